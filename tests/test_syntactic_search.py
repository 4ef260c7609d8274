"""The incremental syntactic model inside the example decoder's search."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rerank_plugins.models.hhmm_model import HhmmModel

FOLDER = Path(__file__).parent.parent / "example_nbest"
SOURCES = [line.split() for line in (FOLDER / "mt/tune.de").read_text(encoding="utf-8").splitlines()[:3]]


@pytest.fixture(scope="module", autouse=True)
def example_on_path() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        yield


@pytest.fixture(scope="module")
def plain():
    from decoder.beam import Decoder
    from decoder.language_model import LanguageModel
    from decoder.phrase_table import read
    from decoder.weights import Weights

    mt = FOLDER / "mt"
    with (mt / "phrase-table.txt").open(encoding="utf-8") as table, (mt / "lm.arpa").open(encoding="utf-8") as arpa:
        weights = Weights.read((mt / "moses.ini").read_text(encoding="utf-8").splitlines())
        return Decoder(read(table), LanguageModel(arpa), weights, stack_size=4, table_limit=4)


@pytest.fixture(scope="module")
def syntax():
    return HhmmModel(beam=10, threshold=1e-3)


def test_without_weight_it_changes_nothing(plain, syntax):
    """Hypotheses are kept apart by their stores, but score as they did."""
    from decoder.nbest import nbest
    from decoder.syntactic import Syntactic

    joint = replace(plain, model=Syntactic(plain.model, syntax, 0.0), stack_size=20)
    for source in (SOURCES[0][:5], SOURCES[1][:4]):
        before, after = (nbest(decoder.search(source), plain.weights, 1)[0] for decoder in (plain, joint))
        assert after.total >= before.total - 1e-6


def test_scores_are_those_of_both_models(plain, syntax):
    """The language model's part of a translation is ln p by n-grams plus the share of ln p by the HHMM."""
    from decoder.nbest import nbest
    from decoder.syntactic import State, Syntactic

    model = Syntactic(plain.model, syntax, 0.5)
    joint = replace(plain, model=model)
    for source in SOURCES[:2]:
        (best,) = nbest(joint.search(source), joint.weights, 1)
        words = best.words
        total, state = model.extend(model.START, (*words, "</s>"))
        ngrams, _ = plain.model.extend(plain.model.START, (*words, "</s>"))
        assert total == pytest.approx(ngrams + 0.5 * float(syntax.totals([words])[0]), abs=1e-3)
        assert best.features[1] == pytest.approx(total, abs=0.01)
        assert isinstance(state, State)
        model.reset()


def test_recombination_is_by_the_likeliest_store(plain, syntax):
    from decoder.syntactic import Syntactic

    model = Syntactic(plain.model, syntax, 0.5)
    one, other = (model.extend(model.START, words)[1] for words in (("the", "cat"), ("the", "cat")))
    assert one == other
    assert hash(one) == hash(other)
    assert one != model.extend(model.START, ("the",))[1]
