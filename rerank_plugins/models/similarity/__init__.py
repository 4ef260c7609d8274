"""Measures of the similarity of two sentences, as Wu et al. (2013) pool them (their Table 1), by family.

text             a sentence as the measures see it; how much a word says
overlap          shared words and word n-grams, plain and weighted by information
ngrams           containment and Jaccard coefficients of word n-grams, character n-grams
strings          longest common subsequence and substring, greedy string tiling, edits
entities         names: overlap and greedy alignments (their equations 1 and 2)
alignment        words beside the most similar words of the other sentence, or in pairs
shape            lengths, numbers, stock symbols, case
tfidf            words, stems and character n-grams weighted by how rare they are among the pairs
vectors          cosines of sentence vectors; words aligned by their vectors
wordnet, esa     words aligned, and sentences compared, by WordNet and by a collection of documents
svs              vectors of sentences and phrases composed by their trees (their equations 6 and 7)
measures         all of them, pairs by columns
pools            which of them the paper selects from
"""
