"""Single sentences: whether a sentence is acceptable."""
