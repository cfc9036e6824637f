"""The parts of `benchmarks/table.py`: what is measured, how, and what is made of the figures."""
