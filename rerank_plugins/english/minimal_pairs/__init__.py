"""Minimal pairs by rule: a good sentence, and one that breaks a rule of grammar."""
