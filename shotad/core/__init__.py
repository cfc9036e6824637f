"""What every room stands on: types, errors, settings, records, weights, the interface of an engine."""
