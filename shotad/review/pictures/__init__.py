"""What is seen: whether browsers play the film, a small copy, frames, the film strip."""
