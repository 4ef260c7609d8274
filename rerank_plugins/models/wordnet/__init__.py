"""WordNet (Fellbaum 1998) from its own database files, and how alike its words are by its hierarchies.

database      data.POS, index.POS and POS.exc as Princeton distributes them
morphology    base forms of inflected words, as WordNet's own `morphy` finds them
taxonomy      ancestors of each synset with distances, depths, information content
kernels       the measures over the senses of two words
model         a word's senses; similarities of all words of one sentence with all of another

No data is shipped. Left out: collocations across tokens (hot dog), other pointers than hypernyms.
"""
