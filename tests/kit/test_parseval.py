"""PARSEVAL against the example that comes with EVALB: its trees in other words, and the figures documented for them."""

from rerank_plugins.core.constituency_tree import Tree, read_trees
from rerank_plugins.kit.trees.parseval import Parseval

GOLD = "(S (A (P a)) (B (Q b) (A (R c) (T d))))"
CLAUSE = "(A (P a)) (B (Q b) (A (R c) (T d)))"
SAMPLE = [  # line of the sample, found, gold unless it is the usual one; brackets matched, of gold, found; tags
    ("1", GOLD, None, 4, 4, 4, 4),
    ("2", "(S (A (P a)) (B (Q b) (C (R c) (T d))))", None, 3, 4, 4, 4),
    ("3", "(S (A (P a)) (B (Q b) (A (R c) (U d))))", None, 4, 4, 4, 3),
    ("4", "(S (C (P a)) (B (Q b) (A (R c) (U d))))", None, 3, 4, 4, 3),
    ("5", "(S (A (P a)) (B (Q b) (R c) (A (T d))))", None, 3, 4, 4, 4),
    ("6", "(S (A (P a) (Q b)) (A (R c) (T d)))", None, 2, 4, 3, 4),
    ("7", "(S (P a) (Q b) (R c) (T d))", None, 1, 4, 1, 4),
    ("8", "(TOP (P a) (Q b) (R c) (T d))", None, 0, 4, 0, 4),
    ("9", "(S (A (P a)) (B (Q b) (A (A (R c) (T d)))))", None, 4, 4, 5, 4),
    ("10", "(S (A (P a)) (B (Q b) (A (A (A (A (A (R c) (T d))))))))", None, 4, 4, 8, 4),
    ("15", f"(TOP {GOLD})", None, 4, 4, 4, 4),
    ("18", GOLD, None, 4, 4, 4, 4),  # 18 and 19: equal by the sample's parameters
    ("19", GOLD, None, 4, 4, 4, 4),
    ("21", GOLD, "(S (A-SBJ-1 (P a)) (B-WHATEVER (Q b) (A (R c) (T d))))", 4, 4, 4, 4),
    ("22", f"(S {' '.join([CLAUSE] * 11)})", f"(S {' '.join([CLAUSE] * 11)})", 34, 34, 34, 44),
    ("23", f"(S {CLAUSE} (-NONE- *))", f"(S {CLAUSE} (-NONE- *))", 4, 4, 4, 4),
    ("24", f"(S {CLAUSE} (: *))", f"(S {CLAUSE} (: *))", 4, 4, 4, 4),
]


def one(text: str) -> Tree:
    (tree,) = read_trees([text])
    return tree


def test_parseval_is_evalb_on_its_sample():
    """The counts and the summary that EVALB documents for its sample, whose sentences without a valid parse it skips."""
    together = Parseval()
    for line, found, gold, matched, wanted, made, tags in SAMPLE:
        alone, trees = Parseval(), (one(gold or GOLD), one(found))
        alone.add(*trees)
        assert (alone.matched, alone.gold, alone.found, alone.tags) == (matched, wanted, made, tags), line
        together.add(*trees)
    assert (together.matched, together.gold, together.found, together.words, together.tags) == (86, 98, 95, 108, 106)
    percent = {name: round(value, 2) for name, value in together.percent().items()}
    assert percent == {"LR": 87.76, "LP": 90.53, "F1": 89.12, "exact": 52.94, "tags": 98.15, "coverage": 100}


def test_a_phrase_of_punctuation_has_no_bracket() -> None:
    found = Parseval()
    found.add(one("(S (A (P a)) (FRAG (. .)))"), one("(S (A (P a)) (. .))"))
    assert (found.gold, found.found, found.matched, found.exact) == (2, 2, 2, 1)


def test_one_word_in_one_bracket_is_everything() -> None:
    found = Parseval()
    found.add(one("(S (P a))"), one("(S (P a))"))
    assert set(found.percent().values()) == {100.0}
