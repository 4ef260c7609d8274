"""Structured vectorial semantics (Wu & Schuler 2011): constituents carry vectors over latent concepts."""
