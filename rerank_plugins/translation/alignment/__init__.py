"""The word alignment model of sentence pairs: IBM model 2 with the diagonal prior of fast_align.

It gives p(target words | source words) and p(source words | target words), and links between the words.
"""
