"""Textual similarity (Wu et al. 2013): of hypotheses to other text, and measures of two sentences.

Words have vectors by random indexing (Sahlgren 2005), over documents (ESA, Gabrilovich and Markovitch 2009) and by
structured vectorial semantics; WordNet is Fellbaum (1998).
"""
