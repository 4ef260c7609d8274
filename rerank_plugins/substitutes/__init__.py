"""The K most probable substitutes of a word in its context under a back-off n-gram model (FASTSUBS, Yuret 2012)."""
