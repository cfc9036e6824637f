"""What is to be seen: text, people, objects, faces, and whose they are (the cast)."""
