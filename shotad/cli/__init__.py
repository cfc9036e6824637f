"""The command line, one module for each command, and the Python interface that they stand on."""
