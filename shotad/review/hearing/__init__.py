"""What is heard: a line as the audience will hear it, and who speaks."""
