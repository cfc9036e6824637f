"""What is measured along a film's lines: repetition in words and in meaning, and names that are kept."""
