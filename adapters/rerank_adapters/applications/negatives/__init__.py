"""Makes pseudo-negative examples: pairs of an acceptable sentence and an unacceptable one.

errors     one error inserted into each sentence (Foster et al. 2008)
treebank   agreement, case or word order of any language broken, as a treebank shows them
samples    sentences drawn from an n-gram model, as long as those of a text (Okanohara & Tsujii 2007)
nbest      1-bests of a decoder, paired with references (Och et al. 2004; Cherry & Quirk 2008)
"""
