"""Training the shot-scale classifier."""
