"""The back-off core, which estimates and scores n-gram models over tuples of any symbols.

An event predicts a symbol x in a context c_1 … c_{n-1}, nearest symbol first, which backs off by losing its farthest
symbol: a word after the words before it, a word below its ancestors in a tree. A model of tuples from end to end:

    source = TupleEvents((words, ancestors))        # events.py; sizes of x, of c_1, …
    source.add(events)                              # (m, 2) ids: c_1, x; -1 (NONE) where there is no ancestor
    tables = estimate(source, KneserNey(), never=[root]).tables    # suffix_trie, order_estimation, estimation.py
    ln_p, matched = score_events(tables, other)     # scoring.py; natural logs
"""
