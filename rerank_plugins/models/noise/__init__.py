"""One error put into a sentence that had none: pseudo-negative examples of grammar (Foster et al. 2008).

forms.py         the forms of a word, as a text attests them
misspellings.py  words one edit away
agreement.py     words that agree with others, in a dependency tree
inserting.py     the kinds of errors, and one of them inserted
"""

from rerank_plugins.models.noise.forms import WordForms
from rerank_plugins.models.noise.inserting import KINDS, Edit, ErrorInserter

__all__ = ["KINDS", "Edit", "ErrorInserter", "WordForms"]
