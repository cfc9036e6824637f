"""Evaluation against what people labelled."""
