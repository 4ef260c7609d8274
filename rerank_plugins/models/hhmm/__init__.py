"""The hierarchic hidden Markov model of right-corner parsing, as an incremental syntactic language model.

The model is that of Schuler (2009), Wu et al. (2010) and Schwartz et al. (2011). These modules lead from a grammar, or
from trees, to a probability; read them in this order:

left_progeny.py   the expected left descendants of an awaited constituent, by store depth (equations 16-19)
counting.py       counts the reductions and expansions of right-corner trees (Wu et al., equations 11-14)
training.py       trains the grammar and the counts of a treebank
interpolation.py  estimates the events' probabilities, smoothed with the expectations of the grammar
counted.py        the same probabilities in arrays that the search looks up by context
tables.py         the grammar laid out for the search: rules by left child, expectations, emissions of a word
recombination.py  the hash table of stores, in which the probabilities of equal stores add up
workspace.py      the arrays in which the search works
successors.py     remembers which rules may follow a store, for all stores, hypotheses and lists
transitions.py    reduction, transition and expansion (equations 9-15 and 20-24) over a beam of stores
word_step.py      one word: the beam after it
store.py          the beam as a value, and the statistics of its stores
model.py          `start`, `advance`, `finish`, and what happens when no store is left
prefix_trie.py    scores sentences over the trie of their prefixes
derivation.py     follows back-pointers to the best tree
model_file.py     writes and reads the grammar and the counts
embedded.py       the embedded English model
"""
