"""Evaluation: AD against what people wrote, threads against what people labelled."""
