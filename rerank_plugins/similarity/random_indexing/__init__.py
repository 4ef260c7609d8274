"""Random indexing: word vectors as sums of sparse random index vectors (Kanerva et al. 2000; Sahlgren 2005).

index_vectors   ternary vectors with a few ±1, drawn from a hash of the word
context_sums    kernels that add the index vectors of a word's contexts to its vector
lsa             latent semantic analysis, as one more space
training        text -> counts -> four spaces (Wu et al. 2013, section 2.2)
model           the vectors of words and of sentences
model_file      the model in one file, mapped into memory
"""
