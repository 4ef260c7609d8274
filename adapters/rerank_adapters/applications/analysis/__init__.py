"""Analysis: which features earn their place, and why one hypothesis beats another."""
