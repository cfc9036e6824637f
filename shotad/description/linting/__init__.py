"""Beside the run: lint, all rules on the lines of a track, with what is known of its film."""
