"""Making the human ADs' actions for data that has none: character-free sentences with one verb each."""
