"""Random indexing: word vectors as sums of sparse random index vectors (Kanerva et al. 2000; Sahlgren 2005).

index_vectors   ternary vectors with a few ±1, made of each word's own hash
accumulating    kernels: index vectors of a word's contexts are added to its vector
lsa             latent semantic analysis, as one more space
training        text -> counts -> four spaces (Wu et al. 2013, section 2.2)
model           words with their vectors; vectors of sentences
model_file      one file, mapped into memory
"""
