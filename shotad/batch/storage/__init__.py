"""Films and work folders on object storage, and behind other addresses, through fsspec."""
