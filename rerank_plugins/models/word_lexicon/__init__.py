"""A discriminative word lexicon: which words a translation has, given all words of the source at once."""
