"""N-best lists of word lattices: those of Kaldi and of HTK's standard lattice format, which are read alone.

The search for the best distinct word sequences follows Mohri and Riley (2002).
"""
