"""Progress on stderr, and times and sizes as messages write them."""
