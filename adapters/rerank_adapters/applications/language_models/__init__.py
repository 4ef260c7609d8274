"""Language models by themselves: scores, surprisal, mixtures, samples."""
