"""Structured vectorial semantics (Wu and Schuler 2011): constituents carry vectors over latent concepts."""
