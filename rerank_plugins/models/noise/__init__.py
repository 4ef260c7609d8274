"""Inserts one error into a correct sentence: pseudo-negative examples of grammar (Foster et al. 2008).

forms.py         the forms of a word that a text attests
misspellings.py  words one edit away
agreement.py     words that agree with another word in a dependency tree
inserting.py     the kinds of errors and their insertion
phenomena/       minimal pairs that break a rule of grammar, after a dependency tree
"""

from rerank_plugins.models.noise.forms import WordForms
from rerank_plugins.models.noise.inserting import KINDS, Edit, ErrorInserter

__all__ = ["KINDS", "Edit", "ErrorInserter", "WordForms"]
