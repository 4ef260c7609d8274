"""Rules of English grammar over dependency trees, and the counts of verbs and nouns that they need.

tree_view.py     a tree with the queries of the rules
words.py         closed classes of words; given_names.py names
paradigms.py     forms of verbs and nouns, from tagged text
counting.py      frames, gender and animacy, from parsed text
lexicon.py       the embedded lexicon of both
agreement.py     subject and verb, determiner and noun, reflexive and antecedent
binding.py       positions of reflexives, case of pronouns
verb_forms.py    forms after auxiliaries
polarity.py      negative polarity items
quantifiers.py   existential sentences, numerals, nouns left out
raising.py       expletives, control, infinitives with a gap
extraction.py    fillers, gaps and islands
frames.py        how usual arguments are
violations.py    all of them
"""
