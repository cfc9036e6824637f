"""Models of language that stand beside the engines: sentence embeddings."""
