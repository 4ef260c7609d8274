"""Features of n-best lists: their values, from the cache or by any number of processes, and tables of them."""
