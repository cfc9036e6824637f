"""How far metrics agree with people, and people with each other."""
