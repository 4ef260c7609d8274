"""Missing words: where a sentence lacks a word, and which word that is (Song 2016).

A model has counts of a text (tables.py): of pairs of words by the number of words between them, from which a missing
word is located, and of words in five contexts of their neighbours, from which it is filled in (gap_words.py). All
weights are tuned on held-out sentences from which one word was removed (tuning.py).
"""
