"""How spoken lines are made to fit the time that they have: the real length of the voice decides.

`lines` finds each line's room, `ladder` makes the lines fit, `voiced` brings what came of it to the track.
"""
