"""Caption metrics: how alike a predicted line and the human ones are in words."""
