"""The track and its cues, edits, script formats, guidelines, and the English that lines are made of."""
