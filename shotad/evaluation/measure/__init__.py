"""How anything is measured here: items in, a row of sums for each, and figures of sums."""
