"""What the treelet model's transformations write into labels (Pauls & Klein 2012, section 3).

The label of a transformed node consists of its category, its head, a mark and its parent, of which only the first is
always present: VP-VBD^S, S-to-GAP^ROOT, CD-DC.

- Nouns that head NP-TMP constituents get tags of their own: NN -> NNT, NNS -> NNTS, NNP -> NNTP. The paper marks every
  noun that heads an NP-TMP at least once in the treebank. Few treebanks have that label, so a list of calendar words
  replaces it here.
- Numbers (CD) fall into five classes: CD-YR, CD-NM, CD-DC, CD-MX and CD-AL.
- Nouns and verbs of universal tags have the number of their form, NOUN-pl, if the model has numbers of forms
  (form_numbers.py).
- The head in the label of a node is the head word if that is of a closed class, and the head tag otherwise. A
  preterminal of an open class is unchanged, because its head tag is its label. All spellings of a bracket get the same
  mark.
"""

from __future__ import annotations

import re

from rerank_plugins import normal_form
from rerank_plugins.kit.trees.head_rules import CLOSED_CLASSES, PUNCTUATION

CALENDAR = """
second seconds minute minutes hour hours day days week weeks weekend weekends fortnight month months quarter quarters
year years decade decades century centuries moment moments time times season seasons today tonight tomorrow yesterday
morning mornings noon afternoon afternoons evening evenings night nights midnight a.m. p.m. am pm spring summer autumn
fall winter monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays
saturdays sundays mon tue tues wed thu thur thurs fri sat sun january february march april may june july august
september october november december jan jan. feb feb. mar mar. apr apr. jun jun. jul jul. aug aug. sep sep. sept sept.
oct oct. nov nov. dec dec. christmas easter thanksgiving halloween
"""
TEMPORAL = frozenset(CALENDAR.split())
MARKED = {"NN": "NNT", "NNS": "NNTS", "NNP": "NNTP", "NNPS": "NNTPS"}
PLAIN = {marked: plain for plain, marked in MARKED.items()}

# Footnote 3 of the paper: any punctuation; all inflected forms of do, be and have; and words with these tags. In trees
# made from dependencies, the closed classes of Universal Dependencies and punctuation, but numerals are open.
TAGS = "IN WDT PDT WP WP$ TO WRB RP DT SYM EX POS PRP AUX CC"
VERBS = "VB VBD VBG VBN VBP VBZ"
DO_BE_HAVE = "do does did done doing be am is are was were been being 'm 're 's ai have has had having 've 'd"
_CLOSED_TAGS = PUNCTUATION.union(TAGS.split()) | (CLOSED_CLASSES - {"NUM"}) | {"PUNCT"}
_CLOSED = frozenset((tag, word) for tag in VERBS.split() for word in DO_BE_HAVE.split())


def is_closed(tag: str, word: str) -> bool:
    """Whether a word, in lower case, is of a closed class."""
    return tag in _CLOSED_TAGS or (tag, word) in _CLOSED


def head_word(tag: str, word: str) -> str:
    """The word of a closed class as it stands in labels; "" for a word of an open class, whose head is its tag."""
    normal = normal_form(word).lower()
    return normal.replace("(", "-LRB-").replace(")", "-RRB-").replace(" ", "_") if is_closed(tag, normal) else ""


def number_class(word: str) -> str:
    """YR: four digits (mostly years); NM: digits; DC: with a decimal point; MX: letters and digits; AL: no digit.

    Characters other than letters, digits and the point are ignored: 1,000 and 2/3 are NM, twenty-five is AL.

    >>> [number_class(word) for word in ("1984", "25", "109.85", "1980s", "million")]
    ['YR', 'NM', 'DC', 'MX', 'AL']
    """
    if re.fullmatch(r"[0-9]{4}", word):
        return "YR"
    if not re.search(r"\d", word):
        return "AL"
    if re.search(r"[^\W\d_]", word):
        return "MX"
    return "DC" if "." in word else "NM"
