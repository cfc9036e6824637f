"""The sheet: a film's shots, threads, scales, speech, slots and lines as one page and as pictures."""
