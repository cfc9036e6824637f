"""The assisted protocol (Shot-by-Shot, section 5.8): several candidates for each AD, an expert chooses."""
