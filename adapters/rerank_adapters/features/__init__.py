"""Features of n-best lists: what is extracted, from the cache or by any number of processes, and tables of it."""
