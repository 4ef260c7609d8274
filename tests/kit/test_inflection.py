"""The inflection of words without FEATS: estimates against their twin, and what agreement and endings say."""

from __future__ import annotations

import random

import numpy as np
import pytest

from rerank_plugins.core.dependency_tree import DependencyTree
from rerank_plugins.kit.trees.inflection import (
    Feats,
    Inflection,
    Words,
    learn_inflection,
    nominal_chains,
    read_feats,
    verb_chains,
)
from rerank_plugins.kit.trees.inflection_estimates import Observations, estimate
from tests.kit.naive_inflection import Chain, NaiveEstimates

NOUNS = ["Lampe", "Lampen", "Blume", "Blumen", "Tasche", "Taschen", "Kanne", "Kannen", "Lehrer"]


def sentence(text: str) -> tuple[DependencyTree, list[Feats]]:
    """A tree of `form/UPOS/relation/head[/FEATS]`, with the features of its words."""
    words = [word.split("/") for word in text.split()]
    heads = tuple(int(word[3]) - 1 for word in words)
    tree = DependencyTree(
        tuple(word[0] for word in words), heads, tuple(word[2] for word in words), tuple(word[1] for word in words)
    )
    return tree, [read_feats(word[4] if len(word) > 4 else "_") for word in words]


def of_two(determiner: str, noun: str, verb: str, number: str = "") -> tuple[DependencyTree, list[Feats]]:
    """A subject with its verb; `number` is that of all three words, or none."""
    feats = f"/Number={number}" if number else ""
    return sentence(f"{determiner}/DET/det/2{feats} {noun}/NOUN/nsubj/3{feats} {verb}/VERB/root/0{feats}")


@pytest.fixture(scope="module")
def inflection() -> Inflection:
    """Learnt from a treebank, and from parsed trees with words that it lacks."""
    treebank = [
        of_two(determiner, noun, verb, number)
        for singular, plural in zip(NOUNS[:8:2], NOUNS[1:8:2], strict=True)
        for verbs in ("brennt brennen", "steht stehen", "liegt liegen")
        for determiner, noun, verb, number in (
            ("die", singular, verbs.split()[0], "Sing"),
            ("die", plural, verbs.split()[1], "Plur"),
            ("eine", singular, verbs.split()[0], "Sing"),
        )
    ]
    parsed = [of_two("die", "Wagen", "stehen"), of_two("die", "Wagen", "liegen"), of_two("die", "Wagen", "brennen")]
    return learn_inflection(treebank + parsed)


def numbers(inflection: Inflection, tree: DependencyTree) -> list[str]:
    """The numbers that the words of a tree without FEATS get."""
    (found,) = inflection.feats([(tree, [{}] * len(tree.words))])
    return [feats.get("Number", "") for feats in found]


def test_subject_and_verb_vote_for_each_other(inflection: Inflection) -> None:
    # No tree has Lehrer, and its ending says nothing.
    assert numbers(inflection, of_two("die", "Lehrer", "stehen")[0]) == ["Plur"] * 3
    assert numbers(inflection, of_two("die", "Lehrer", "steht")[0]) == ["Sing"] * 3
    assert numbers(inflection, of_two("eine", "Lehrer", "xyz")[0]) == ["Sing"] * 3


def test_a_word_that_no_tree_has_takes_its_number_from_its_ending(inflection: Inflection) -> None:
    assert numbers(inflection, sentence("Pumpen/NOUN/root/0")[0]) == ["Plur"]
    assert numbers(inflection, sentence("Pumpe/NOUN/root/0")[0]) == ["Sing"]
    assert numbers(inflection, sentence("er/PRON/nsubj/2 summt/VERB/root/0")[0])[1] == "Sing"
    assert numbers(inflection, sentence("sie/PRON/nsubj/2 summen/VERB/root/0")[0])[1] == "Plur"


def test_a_word_agrees_with_the_noun_before_it(inflection: Inflection) -> None:
    assert numbers(inflection, sentence("Lampen/NOUN/root/0 alle/DET/det/1")[0]) == ["Plur", "Plur"]


def test_a_form_of_parsed_trees_alone_is_learnt_from_its_verbs(inflection: Inflection) -> None:
    assert numbers(inflection, of_two("die", "Wagen", "xyz")[0])[:2] == ["Plur", "Plur"]


def test_two_joined_subjects_have_a_plural_verb(inflection: Inflection) -> None:
    tree = sentence("eine/DET/det/2 Lampe/NOUN/nsubj/5 und/CCONJ/cc/4 Blume/NOUN/conj/2 xyz/VERB/root/0")[0]
    assert numbers(inflection, tree) == ["Sing", "Sing", "", "Sing", "Plur"]


@pytest.mark.parametrize(
    "text",
    [
        "in/ADP/case/2 Lampen/NOUN/obl/3 brennt/VERB/root/0 er/PRON/nsubj/3",
        "Leute/NOUN/root/0 die/PRON/nsubj/3 lachen/VERB/acl:relcl/1",
        "hat/AUX/aux/3 er/PRON/nsubj/3 gesungen/VERB/root/0",
        "er/PRON/nsubj/2 singt/VERB/conj/3 lacht/VERB/root/0 sie/PRON/nsubj/3",
        "Bo/PROPN/conj/2 Ann/PROPN/nsubj/3 singen/VERB/root/0",
        "hat/AUX/aux/2 gesungen/VERB/root/0 und/CCONJ/cc/4 gelacht/VERB/conj/2",
        "wenn/SCONJ/mark/3 die/DET/nsubj/3 lachen/VERB/root/0",
    ],
)
def test_what_is_observed_does_not_change_when_a_word_comes_before_the_sentence(text: str) -> None:
    tree, _ = sentence(text)
    heads = (tree.heads.index(-1) + 1, *(head + 1 if head >= 0 else -1 for head in tree.heads))
    longer = DependencyTree(("ach", *tree.words), heads, ("discourse", *tree.relations), ("INTJ", *tree.tags))
    feats = [{"Number": "Sing", "Person": str(i)} for i in range(len(tree.words))]
    words, others = Words(tree), Words(longer)
    for word in words.nominal():
        assert list(nominal_chains(words, word)) == list(nominal_chains(others, word + 1))
    for word in words.verbal():
        assert list(verb_chains(words, word, feats)) == list(verb_chains(others, word + 1, [{}, *feats]))


def test_a_value_of_feats_may_have_the_sign_in_it() -> None:
    assert read_feats("Gloss=a=b|Number=Sing") == {"Gloss": "a=b", "Number": "Sing"}


def test_own_features_stay(inflection: Inflection) -> None:
    tree, own = sentence("Lampe/NOUN/nsubj/2/Number=Dual brennt/VERB/root/0")
    assert inflection.feats([(tree, own)]) == [own]


def test_without_a_treebank_nothing_is_known() -> None:
    tree, none = of_two("die", "Lampe", "brennt")
    assert learn_inflection([(tree, none)]).feats([(tree, none)]) == [none]
    assert learn_inflection([]).feats([(tree, none)]) == [none]


def drawn(seed: int) -> tuple[list[tuple[Chain, ...]], list[str | None]]:
    """Rows of observations whose values are known or not."""
    draws = random.Random(seed)
    rows: list[tuple[Chain, ...]] = []
    values: list[str | None] = []
    for _ in range(60):
        place = (("place",), ("place", draws.choice("ab")))
        ending = draws.choice("xy")
        form = (("form",), ("form", ending), ("form", draws.choice("mno") + ending))
        rows.append((place, form, (("verb",), ("verb", draws.choice("tn"))))[: draws.choice((2, 3))])
        values.append(draws.choice(("Sing", "Plur", "Dual")) if draws.random() < 0.4 else None)
    return rows, values


@pytest.mark.parametrize("seed", range(3))
def test_estimates_are_those_of_the_twin(seed: int) -> None:
    rows, values = drawn(seed)
    observations = Observations()
    numbered = np.zeros((len(rows), 4), np.int32)
    for numbers, row in zip(numbered, rows, strict=True):
        numbers[: len(row)] = [observations.number(chain) for chain in row]
    estimates, naive = estimate(observations, numbered, values), NaiveEstimates(rows, values)
    posterior = estimates.posterior(numbered)
    assert np.exp(estimates.ln_prior).sum(axis=1) == pytest.approx(1.0)
    assert posterior.sum(axis=1) == pytest.approx(1.0)
    for found, row in zip(posterior.tolist(), rows, strict=True):
        assert dict(zip(estimates.values, found, strict=True)) == pytest.approx(naive.posterior(row), rel=1e-6)
