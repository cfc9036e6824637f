"""Film grammar: which shots share a camera set-up (threads), and how close the camera is (shot scale)."""
