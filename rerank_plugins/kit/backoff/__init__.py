"""The back-off core, which estimates and scores n-gram models over tuples of any symbols.

An event predicts a symbol x in a context c_1 … c_{n-1}, nearest symbol first, which backs off by losing its farthest
symbol. A word after the words before it, a word below its ancestors in a tree, a rule in its place in a tree: all are
such events.

    layout, radix_sort, suffix_trie events as integers; all n-grams and their counts from one sort
    event_sources                   TextEvents (a text), TupleEvents (any events): what an estimator reads
    smoothing                       KneserNey (interpolated, modified), StupidBackoff
    order_estimation, context_links,
      estimation                    estimate(source, smoothing, prune=…) -> Estimate with its BackoffTables
    tables                          BackoffTables: the finished model, two arrays of records
    stores                          what an estimator writes to: tables, or packed tables an order at a time
    bit_fields, codebooks           numbers of any width; values as small numbers, exact or quantised
    packed_tables, packed_levels,   PackedTables: a model of text in about half the memory, with the same scores;
      packed_records,                 pack, unpack
      unpacked_records
    packed_scoring                  what score_text and score_steps do with packed tables
    event_sampling                  draw_event: draws an event from p(· | h)
    scoring, text_scoring           score_events, score_text: ln p of many events at once; matched_lengths
    table_arrays                    the tables as arrays of a model file (rerank_plugins/kit/files/declared.py)

A model of tuples from end to end, here of bigrams over ancestors:

    source = TupleEvents((words, ancestors))        # sizes: of x, of c_1, …
    source.add(events)                              # (m, 2) ids: c_1, x; -1 (layout.NONE) where there is no ancestor
    tables = estimate(source, KneserNey(), never=[root]).tables
    ln_p, matched = score_events(tables, other)       # natural logs

For a context of several kinds of symbols, number the pairs: (ancestor, relation) is one symbol.
"""
