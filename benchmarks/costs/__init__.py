"""The parts of `cost_model.py`: formulas, graphics processors, measurements, a catalogue."""
