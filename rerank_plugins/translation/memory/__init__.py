"""A translation memory: it retrieves the training pairs whose source sides are nearest to a sentence."""
