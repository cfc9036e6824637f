"""Lines are spoken, fitted to their slots, mixed with the film's sound, and muxed."""
