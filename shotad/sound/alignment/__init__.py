"""A described recording fitted to a film: where each part of the recording lies in the film's time."""
