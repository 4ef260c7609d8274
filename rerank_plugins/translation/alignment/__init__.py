"""Word alignment models of sentence pairs: IBM model 1, model 2 with a diagonal prior, and the HMM alignment model.

A model gives p(target words | source words) and p(source words | target words), and links between the words.
"""
