"""Explicit semantic analysis (Gabrilovich and Markovitch 2009): texts as vectors over the documents of a collection.

documents         reads a collection of documents with titles from plain text
training          builds the inverted index: for each word the documents in which it has the greatest weights
document_vectors  vectors of sentences and cosines of words over the index
model             the index, and the similarity of sentences and of words
model_file        the index in one file

The collection of the paper is Wikipedia; any collection serves in which each document is about one subject.
"""
