"""Extended AD: the film stands still where a line that matters finds no room.

`planning` says where (pure but for the voice), `timemap` takes seconds of the film to seconds of the
described copy, `copying` writes that copy, `players` the side files for players that pause by themselves.
"""
