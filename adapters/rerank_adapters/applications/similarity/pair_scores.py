"""`similarity`: how alike the sentences of pairs are, by measures, metrics and systems trained on scored pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rerank_adapters.applications.similarity.pairs_file import read_sentence_pairs
from rerank_adapters.applications.similarity.scorers import measure_of, scores_of
from rerank_adapters.data.given_texts import Text, pairs_of, pipeline_of, shown
from rerank_adapters.job.models import labelled
from rerank_adapters.rows import Rows


def similarity(
    pairs: Path | Iterable[tuple[Text, Text]],
    measures: Any,
    *,
    vectors: str | Path | None = None,
    esa: str | Path | None = None,
    svs: str | Path | None = None,
    wordnet: str | Path | None = None,
    text: str | Sequence[str] = "penn-tokenize",
) -> Rows:
    """How alike in meaning two sentences are, a column for each measure or system.

    The columns are `first` and `second`, the two sentences, then the scores. Words are weighted by their rarity among
    the pairs, so give pairs of one kind together.

    `pairs`     pairs of texts or of sequences of words, or a Path: a file of pairs, as the STS tasks'
    `measures`  one or many: names of measures with options ("tfidf.stems", "svs.meaning,svs=en"), metrics ("chrf"),
                which score the first sentence with the second as its reference, tables with `use`, files of `rerank
                similarity train`, objects that `load` has made of any of these, or a dict of these by name
    `vectors`, `esa`, `svs`, `wordnet`  the data of measures that do not name their own, as the options of `rerank
                similarity apply`
    `text`      the text steps of texts before measures; systems and objects have their own. Words are taken as they are

    Raises TypeError for a value that is no pair; ConfigError for an unknown measure and for data that a system was
    trained with and that are not given, or others.

    >>> similarity([("The dog barks.", "The dogs bark."), ("A dog barks.", "It rains.")], ["strings.edits"])
    first           second          strings.edits
    The dog barks.  The dogs bark.       0.866667
    A dog barks.    It rains.            0.384615
    """
    given = list(read_sentence_pairs(pairs).pairs) if isinstance(pairs, Path) else pairs_of(pairs)
    steps = pipeline_of(text)
    usual = {"vectors": vectors, "wordnet": wordnet, "esa": esa, "svs": svs, "text": text}
    scorers = {label: measure_of(spec, usual) for label, spec in labelled(measures, "measure").items()}
    scores = scores_of(scorers, given, steps)
    sentences = ([shown(pair[side]) for pair in given] for side in (0, 1))
    columns = (scores[label].tolist() for label in scorers)
    return Rows(["first", "second", *scorers], zip(*sentences, *columns, strict=True))
