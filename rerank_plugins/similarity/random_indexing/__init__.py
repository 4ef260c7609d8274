"""Random indexing: word vectors as sums of sparse random index vectors (Kanerva et al. 2000; Sahlgren 2005)."""
