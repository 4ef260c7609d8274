"""Drafts the first config of a job from its files, for `rerank init`."""
