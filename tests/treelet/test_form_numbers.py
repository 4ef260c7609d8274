"""Numbers of forms in the labels of treelets: which forms get a mark, and models that agree by them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from rerank_adapters.cli.commands import program
from rerank_plugins.kit.trees.dependency_constituents import Conversion
from rerank_plugins.treelet.form_numbers import FormNumbers, of_occurrences
from rerank_plugins.treelet.model import read_model, write_model
from tests.kit.test_universal_features import NOUNS, VERBS, conllu, written


def marked(numbers: FormNumbers, *words: str) -> list[str]:
    """The marked tags of words, each written as TAG/word."""
    return [numbers.marked(*word.split("/")) for word in words]


@pytest.fixture(scope="module")
def numbers() -> FormNumbers:
    """Those of a few nouns and verbs."""
    return of_occurrences(
        [("NOUN", form, number) for singular, plural in NOUNS for form, number in ((singular, "sg"), (plural, "pl"))]
        * 3
        + [("VERB", form, number) for singular, plural in VERBS for form, number in ((singular, "sg"), (plural, "pl"))]
        * 2
        + [("VERB", plural, "") for _, plural in VERBS] * 3
        + [("VERB", "gebellt", "")] * 40
        + [("NOUN", "Lehrer", "sg"), ("NOUN", "Lehrer", "pl")] * 5
    )


def test_a_form_has_the_number_of_nearly_all_its_occurrences(numbers: FormNumbers) -> None:
    assert marked(numbers, "NOUN/Hund", "NOUN/Hunde", "NOUN/Lehrer") == ["NOUN-sg", "NOUN-pl", "NOUN"]


def test_an_infinitive_has_the_number_of_its_form_and_a_participle_none(numbers: FormNumbers) -> None:
    assert marked(numbers, "VERB/singen", "VERB/Singen", "VERB/gebellt") == ["VERB-pl", "VERB-pl", "VERB"]


def test_a_form_that_no_tree_has_gets_the_number_of_its_ending(numbers: FormNumbers) -> None:
    assert marked(numbers, "NOUN/Monde", "VERB/kommen", "VERB/weint") == ["NOUN-pl", "VERB-pl", "VERB-sg"]


def test_other_tags_have_no_marks(numbers: FormNumbers) -> None:
    assert marked(numbers, "ADJ/Hunde", "AUX/singt") == ["ADJ", "AUX"]


def test_without_occurrences_nothing_is_marked() -> None:
    assert marked(of_occurrences([]), "NOUN/Hunde") == ["NOUN"]


def test_listed_entries_give_what_all_entries_would(numbers: FormNumbers) -> None:
    assert len(numbers.keys) < 2 * len(NOUNS) + 2 * len(VERBS)  # endings stand for most forms
    for singular, plural in NOUNS:
        assert marked(numbers, f"NOUN/{singular}", f"NOUN/{plural}") == ["NOUN-sg", "NOUN-pl"]


def test_treelets_agree_by_numbers_of_forms(tmp_path: Path) -> None:
    gold, text = written(tmp_path)
    model = tmp_path / "model.treelet"
    arguments = ["train", "treelet-lm", str(gold), str(gold), "--language", "de", "--numbers", str(gold)]
    result = CliRunner().invoke(program(), [*arguments, "--numbers", str(text), "-o", str(model)])
    assert result.exit_code == 0, result.output
    trees = read_model(model)
    assert {"NOUN-pl", "NOUN-sg"} <= set(trees.symbols.tags)
    write_model(trees, tmp_path / "again.treelet")
    again = read_model(tmp_path / "again.treelet")
    assert again.numbers is not None
    assert again.numbers.keys == trees.numbers.keys  # type: ignore[union-attr]

    def ln_p(noun: str, verb: str) -> float:
        text = conllu(f"die/DET/det/2 {noun}/NOUN/nsubj/3 {verb}/VERB/root/0 ./PUNCT/punct/3")
        return float(np.sum(again.score_trees(list(Conversion().read(text.splitlines())))))

    for noun in ("Hunde", "Monde"):  # one that is known, and one that only has its ending
        for singular, plural in VERBS:
            assert ln_p(noun, plural) > ln_p(noun, singular)
