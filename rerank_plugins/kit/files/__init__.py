"""Files: text, model files, embedded models, and the cache of parses."""
