"""Who of the cast is on the screen: faces of the film, whose they are, and the discovery of a cast."""
