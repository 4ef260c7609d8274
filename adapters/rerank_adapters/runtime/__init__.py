"""Processes: workers, the Dask cluster, progress on stderr, and the end of the program by a signal."""
