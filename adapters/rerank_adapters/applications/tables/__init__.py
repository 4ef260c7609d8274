"""Shows and joins feature tables, and writes pairs of texts to be scored elsewhere."""
