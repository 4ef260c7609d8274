"""Tuning weights: what a tuner sees, what its weights gain on lists that were held out, and which features matter."""
