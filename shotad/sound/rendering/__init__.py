"""The fourth act: a track becomes sound and a described film."""
