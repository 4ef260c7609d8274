"""The hierarchic hidden Markov model of right-corner parsing, as an incremental syntactic language model.

Schuler (2009), Wu et al. (2010), Schwartz et al. (2011). From a grammar, or from trees, to a probability, read in this
order:

progeny.py        what lies down the left edge of an awaited constituent, by store depth (equations 16-19)
counting.py       reductions and expansions of right-corner trees (Wu et al., equations 11-14), where they are counted
training.py       the grammar and the counts of a treebank
interpolation.py  their probabilities, smoothed with what the grammar expects
counted.py        those as the search looks them up
tables.py         the grammar as the search needs it: rules by left child, expectations, emissions of a word
recombination.py  a table of stores: equal ones are found by hashing and their probabilities added up
rule_order.py     rules of a left child, those that are worth most first
stepping.py       one word: reduce, transition, expansion (equations 9-15 and 20-24) over a beam of stores
store.py          the beam as a value, and what its stores say
model.py          start, advance, finish; what happens when no store is left
derivation.py     back-pointers to the best tree
model_file.py     grammar and counts in a file
"""
