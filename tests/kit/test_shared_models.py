"""Embedded models are read once for all that use them at a time, and nobody sees what another one remembers."""

from pathlib import Path
from weakref import WeakValueDictionary

from rerank_plugins.constituency import model_file as pcfg
from rerank_plugins.constituency.parsing import ChartParser
from rerank_plugins.dependency.parsers import EMBEDDED, BiaffineParser
from rerank_plugins.hhmm.language_model import read_or_embedded as read_hhmm
from rerank_plugins.hhmm.left_progeny import left_progeny_of
from rerank_plugins.kit.files import in_use, languages
from rerank_plugins.kit.files.languages import embedded, shared_if_embedded
from rerank_plugins.kit.vocabulary.unigrams import embedded_unigrams
from rerank_plugins.similarity.measures.sentence_parts import Lexicon


class Model:
    pass


def test_a_model_is_kept_while_it_is_used_or_for_ever(monkeypatch):
    monkeypatch.setattr(in_use, "_in_use", WeakValueDictionary())
    monkeypatch.setattr(languages, "_kept", None)
    made = []

    def read(path):
        made.append(path)
        return Model()

    path, another = embedded("a"), embedded("another")
    first = shared_if_embedded(path, read)
    assert shared_if_embedded(path, read) is first
    assert shared_if_embedded(another, read) is not first
    assert len(made) == 2
    del first
    shared_if_embedded(path, read)
    assert len(made) == 3
    languages.keep_embedded()
    shared_if_embedded(path, read)
    shared_if_embedded(path, read)
    assert len(made) == 4
    assert shared_if_embedded(Path("own"), read) is not shared_if_embedded(Path("own"), read)


def test_parts_of_a_process_share_what_nobody_changes():
    assert pcfg.read_or_embedded(None) is pcfg.read_or_embedded(None, "en")
    assert Lexicon().unigrams is embedded_unigrams("ignore") is not embedded_unigrams("exact")
    one, two = (ChartParser(pcfg.read_or_embedded(None)) for _ in range(2))
    assert one.blocks is two.blocks
    assert one.chart is not two.chart
    (first, _), (second, _) = (read_hhmm(None) for _ in range(2))
    assert left_progeny_of(first, 1) is left_progeny_of(second, 1)
    assert left_progeny_of(first, 1) is not left_progeny_of(first, 1, bounded=False)
    one, two = (BiaffineParser(EMBEDDED, "en")._model for _ in range(2))
    assert one.params is two.params
    assert one.inputs is not two.inputs
