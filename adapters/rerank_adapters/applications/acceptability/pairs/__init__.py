"""Minimal pairs: which of two sentences is the better one."""
