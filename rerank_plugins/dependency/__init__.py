"""Dependency parsers, and the dependency language model of Gubbins and Vlachos (2013): words given their ancestors.

The project's own parser is biaffine (Dozat and Manning 2017); Stanza and treebanks are other sources of trees.
"""
