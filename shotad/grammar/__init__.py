"""Film grammar: features of shots, threads, shot scale, and training its classifier."""
