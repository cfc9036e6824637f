"""Many films: one after the other, side by side on one machine, and on many."""
