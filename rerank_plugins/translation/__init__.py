"""Source and hypothesis: alignment models, a word lexicon, a joint model, a translation memory.

Word alignment is Brown et al. (1993) and Vogel, Ney and Tillmann (1996), the lexicon Mauser, Hasan and Ney (2009), and
the joint model Devlin et al. (2014).
"""
