"""How well threads are found, against clusters that people made (Shot-by-Shot, section 5.3)."""
