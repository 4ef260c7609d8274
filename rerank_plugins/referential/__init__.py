"""The referential semantic language model (Schuler, Wu and Schwartz 2009): words that denote sets in a world."""
