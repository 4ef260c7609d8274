"""The referential semantic language model (Schuler, Wu & Schwartz 2009): words that denote sets in a world.

A world model is data: individuals with properties, relations, measures and a taxonomy. A grammar of regular expressions
names the relations that its expressions apply. A hierarchic hidden Markov model over both reads a sentence word by word
and keeps, on each level of its store, the set of individuals that the words so far refer to. Read the modules in this
order:

sets.py          sets of individuals, numbered (the entities reified from sets)
relations.py     relations as transitions on sets (equation 12)
taxonomy.py      a hierarchy of concepts, entered by downward and left by upward transitions (equation 25)
world.py         the world: its individuals, its labels, and cached transitions
described.py     checks the facts of a file about a world, and names the line of an error
world_file.py    world models in TOML and JSON
world_tables.py  world models in tables (CSV)
world_graph.py   world models in RDF and OWL
expressions.py   regular expressions over categories and words, as automata (Glushkov 1961)
grammar.py       categories, their expressions, and what words each category can begin with
grammar_file.py  grammars in a small text file
description.py   the probability of a relation label in a referent (the paper's Ref-Init, §4.4.2)
transitions.py   one word: reduction and shift with referents (equations 16 and 17)
beam.py          hypotheses after some words, as a value
model.py         `start`, `advance`, `finish`, and what happens when no hypothesis is left
derivation.py    the best hypothesis: its referents word by word, and its tree
trigrams.py      the model compiled into a word trigram model (equations 28 to 30)
"""
