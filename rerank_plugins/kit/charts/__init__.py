"""Charts: inside, outside, expected counts, Viterbi and k best derivations under a weighted grammar given as arrays.

`inside.py` and `outside.py` fill a chart of all symbols over all spans, whose cells successive sentences share;
`pruned_chart.py` fills one of the categories that a coarser chart has left, with a vector of states for each;
`hypergraph.py` and `k_best.py` find the best derivations of what either expects. Values are Goodman's (1999) semirings
over one recursion: sums of products, their derivatives, and maxima.
"""
