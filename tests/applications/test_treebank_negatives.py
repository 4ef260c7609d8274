"""Minimal pairs from a treebank of any language: what breaks agreement, case and order, and what does not."""

import numpy as np
import pytest

from rerank_adapters.applications.negatives.broken_trees import KINDS, MIN_DEPENDENTS, Grammar, TreeBreaker
from rerank_adapters.applications.negatives.treebank import read_sentences
from tests.command_line import done, refused

# a made language: verbs end in -as (singular) or -at (plural), nouns in -o, -oj (plural), -on (accusative)
LEXICON = {
    "la": ("la", "DET", "_"), "kato": ("kato", "NOUN", "Case=Nom|Number=Sing"),
    "katoj": ("kato", "NOUN", "Case=Nom|Number=Plur"), "katon": ("kato", "NOUN", "Case=Acc|Number=Sing"),
    "dormas": ("dormi", "VERB", "Number=Sing"), "dormat": ("dormi", "VERB", "Number=Plur"),
    "vidas": ("vidi", "VERB", "Number=Sing"), "ne": ("ne", "ADV", "_"),
    "vidat": ("vidi", "VERB", "Number=Plur"), "povas": ("povi", "VERB", "Number=Sing"),
}  # fmt: skip


def bank(*sentences):
    """CoNLL-U of sentences, each word as `form:head:relation`."""
    blocks = []
    for sentence in sentences:
        rows = []
        for number, word in enumerate(sentence.split(), 1):
            form, head, relation = word.split(":")
            lemma, tag, features = LEXICON[form]
            rows.append(f"{number}\t{form}\t{lemma}\t{tag}\t_\t{features}\t{head}\t{relation}\t_\t_\n")
        blocks.append("".join(rows) + "\n")
    return "".join(blocks)


SLEEPS = "la:2:det kato:3:nsubj dormas:0:root"
SLEEP = "la:2:det katoj:3:nsubj dormat:0:root"
SEES = "la:2:det kato:3:nsubj vidas:0:root la:5:det katon:3:obj"


def sentences_of(text):
    return list(read_sentences(text.splitlines(), "made"))


def broken(kind, sentence, *others):
    """The bad sentences of a kind, with their rules."""
    sentences = sentences_of(bank(sentence, *others))
    found = KINDS[kind](sentences[0], Grammar.of(sentences))
    return {(" ".join(one.words), one.rule) for one in found}


def test_a_verb_gets_a_form_that_does_not_agree():
    assert broken("agreement", SLEEPS, SLEEP) == {("la kato dormat", "subject number")}
    assert broken("agreement", SLEEPS) == set()  # no other form is attested
    assert broken("agreement", "la:2:det katon:3:obj dormas:0:root", SLEEP) == set()  # there is no subject


def test_a_form_that_has_the_same_features_too_is_no_error():
    same = bank(SLEEPS, SLEEP) + bank(SLEEP).replace("Number=Plur\t0", "Number=Sing\t0")
    sentences = sentences_of(same)
    assert list(KINDS["agreement"](sentences[0], Grammar.of(sentences))) == []


def test_a_word_gets_another_case():
    assert broken("case", SEES) == {
        ("la katon vidas la katon", "case of noun"),
        ("la kato vidas la kato", "case of noun"),
    }


def test_a_dependent_goes_to_the_other_side_where_its_side_is_a_rule():
    others = [SEES] * MIN_DEPENDENTS
    assert broken("order", SEES, *others) == {
        ("la kato la katon vidas", "obj of verb"),
        ("la kato vidas katon la", "det of noun"),
    }  # not the first word, nor what moves it
    assert broken("order", SEES, *others[:5]) == set()


def test_the_rule_with_the_fewest_pairs_is_chosen():
    sentences = sentences_of(bank(*[SEES] * MIN_DEPENDENTS, *[SLEEP] * 3))
    breaker = TreeBreaker(Grammar.of(sentences), each=2)
    found = [breaker.broken(sentence, np.random.default_rng(1)) for sentence in sentences]
    assert {one.rule: breaker.counts[one.rule] for one in found if one} == {
        "case of noun": 2, "det of noun": 2, "obj of verb": 2,
    }  # fmt: skip


def test_the_command(tmp_path):
    path = tmp_path / "made.conllu"
    path.write_text(bank(SLEEPS, SLEEP, SEES))
    ran = done("negatives", "treebank", path, "--kind", "agreement")
    header, *rows = ran.out.splitlines()
    assert header.split("\t") == ["good", "bad", "phenomenon", "rule"]
    assert rows == ["la kato dormas\tla kato dormat\tagreement\tsubject number",
                    "la katoj dormat\tla katoj dormas\tagreement\tsubject number"]  # fmt: skip
    path.write_text(bank(SLEEPS))
    assert "no rule applies to any sentence" in refused("negatives", "treebank", path)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_seed_decides(tmp_path, seed):
    path = tmp_path / "made.conllu"
    path.write_text(bank(*[SEES] * MIN_DEPENDENTS))
    first, second = (done("negatives", "treebank", path, "--seed", seed).out for _ in range(2))
    assert first == second
