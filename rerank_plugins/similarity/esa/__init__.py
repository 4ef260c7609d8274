"""Explicit semantic analysis (Gabrilovich and Markovitch 2009): texts as vectors over the documents of a collection.

The collection of the paper is Wikipedia; any collection serves in which each document is about one subject.
"""
