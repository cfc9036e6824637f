"""The people whom discovery finds in a film: tracks into groups, pictures of each, the cast folder."""
