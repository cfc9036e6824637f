"""The pipeline over a benchmark: one line for each human AD, by its id."""
