"""The review page: a person chooses, edits and hears the lines of a film, in a browser."""
