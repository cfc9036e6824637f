"""From the script to what is heard: voices, fit, mix, containers."""
