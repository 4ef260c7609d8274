"""A translation memory: the training pairs whose source sides are nearest to a sentence, by an inverted index."""
