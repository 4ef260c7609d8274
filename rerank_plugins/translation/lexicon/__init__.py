"""A discriminative word lexicon: the probability of each target word, given all words of the source at once."""
