"""One module for each metric, and what several of them are made by: tokens, pronouns, judges."""
