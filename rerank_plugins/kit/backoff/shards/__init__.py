"""Estimates a model by tasks on several machines; the result equals that of estimation.py to the last byte.

The symbols are cut into ranges, the *parts*, with about the same number of events. Tasks read and write files in a
folder that all machines share; each needs the memory of about one part.

1. Counting, a part of the predicted symbols at a time: a k-gram stands beside all its extensions there, so its counts
   are those of its own part. Their counts of counts add up, and give the discounts of the whole.
2. Estimation, a part of the nearest context symbols at a time: γ and p need nothing from other parts but p of the
   1-grams. The contexts of a part have consecutive numbers in the model, and so have the events.
3. Linking: an n-gram h x is followed by a context whose nearest symbol is x, so the links are those of the parts of
   predicted symbols again; then they are put into the events, a part of contexts at a time.
"""
