"""Language models on their own: scores of text, surprisal, mixtures and samples."""
