"""The first config of a job, drafted from its files: what `rerank init` does."""
