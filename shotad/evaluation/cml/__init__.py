"""CML-Bench (Zheng et al. 2025): how good a screenplay is, by what is said and done in it."""
