"""From a film to its lines: prepare, clips, Stage I, Stage II, checks, redo, translation, overview."""
