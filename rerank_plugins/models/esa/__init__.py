"""Explicit semantic analysis (Gabrilovich and Markovitch 2009): texts as weights of the documents of a collection.

documents     a collection of text, cut into documents with titles
training      the inverted index: for each word the documents that it is typical of
kernels       vectors of sentences and cosines of words over the index
model         sentences and words compared
model_file    the index in one file

The collection of the paper is Wikipedia; any will do whose documents are about one thing each.
"""
