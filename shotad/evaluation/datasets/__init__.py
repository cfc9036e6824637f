"""The AD benchmarks: what is in them, by a description of each and one loader for all."""
