"""Measures of the similarity of two sentences, in the families of Wu et al. (2013, Table 1).

capitals              named entities recognised by their capital letters
sentence_parts        the parts of a sentence that the measures compare; the information content of words
overlap               shared words and word n-grams, plain and weighted by information content
ngrams                containment and Jaccard coefficients of word n-grams; cosines of character n-grams
strings               longest common subsequence and substring, greedy string tiling, edit distance
entities              overlap and greedy alignment of named entities (their equations 1 and 2)
word_alignment        words aligned with the most similar words of the other sentence, or paired greedily
shape                 lengths, numbers, stock symbols and case
tfidf                 words, stems and character n-grams weighted by their idf among the pairs
vector_measures       cosines of sentence vectors, and words aligned by their vectors
wordnet_measures,     alignment of words and similarity of sentences by WordNet and by a document
  document_measures     collection
structured_measures   vectors of sentences and phrases composed along their parse trees (their equations 6 and 7)
table                 all measures as the columns of a table with one row per pair
pools                 the pools of measures from which the paper selects
"""
