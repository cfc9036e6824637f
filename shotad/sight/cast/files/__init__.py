"""Casts as people write them: cast files, folders of photos, published character banks."""
