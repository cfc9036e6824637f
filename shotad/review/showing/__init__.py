"""What the page shows of a film and its lines: views, findings, how a line came about."""
