"""Acts on lines and slots, and the session that keeps each of them on the disk."""
