"""Uses language models on their own: scores text, measures surprisal, mixes models and draws samples."""
