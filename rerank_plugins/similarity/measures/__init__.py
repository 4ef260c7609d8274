"""Measures of the similarity of two sentences, in the families of Wu et al. (2013, Table 1); `table` lists them."""
