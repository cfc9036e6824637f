"""Many films: a queue, workers, clusters of machines, object storage."""
