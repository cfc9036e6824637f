"""Who is named in a line, by a film's cast list: in full, in part, by title, by ear."""
