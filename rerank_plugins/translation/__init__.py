"""Source and hypothesis: a word alignment model, a word lexicon, a translation memory.

Word alignment is that of Dyer, Chahuneau and Smith (2013), and the lexicon that of Mauser, Hasan and Ney (2009).
"""
