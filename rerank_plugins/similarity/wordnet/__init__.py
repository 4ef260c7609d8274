"""Reads WordNet (Fellbaum 1998) from its own database files, and compares words by its hierarchies.

database            reads data.POS, index.POS and POS.exc as Princeton distributes them
morphology          base forms of inflected words, as WordNet's own `morphy` finds them
taxonomy            the ancestors of each synset with their distances, depth and information content
hierarchy_measures  the measures over the senses of two words
model               the senses of a word; the similarities of n words with m others

The database is not included. Collocations of several tokens (hot dog) and pointers other than hypernyms are ignored.
"""
