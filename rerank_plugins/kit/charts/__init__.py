"""Charts: inside, outside, expected counts, Viterbi and k best derivations under a weighted grammar given as arrays.

`inside.py` and `outside.py` fill a chart of all symbols over all spans, whose cells successive sentences share;
`over_spans.py` is the recursion of charts that a coarser one has pruned, for any algebra; `pruned_chart.py` fills one
of the categories that are left (`items.py`), with a vector of states for each; `hypergraph.py` and `k_best.py` find the
best derivations of what these expect. Values are Goodman's (1999) semirings: sums of products, their derivatives, and
maxima.
"""
