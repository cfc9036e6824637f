"""Long work that the page asks for, and the cast."""
