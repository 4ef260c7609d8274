"""`similarity`: how alike the sentences of pairs are, by measures, metrics and systems trained on scored pairs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rerank_adapters.applications.similarity.model import Regression, SimilarityModel, read_similarity
from rerank_adapters.applications.similarity.pairs_file import SentencePairs, read_sentence_pairs
from rerank_adapters.chain.loading import all_plugins, label_of, load
from rerank_adapters.given_texts import Text, Words, checked_pairs, pipeline_of, shown, words_of
from rerank_adapters.rows import Rows
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, Metric
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.registry import suggestion
from rerank_plugins.dependency.stanza_parser import StanzaEntities
from rerank_plugins.similarity.measures.sentence_parts import Lexicon
from rerank_plugins.similarity.random_indexing import read_model as read_vectors
from rerank_plugins.svs.model import EMBEDDED, read_model

if TYPE_CHECKING:
    from rerank_plugins.similarity.measures.table import Measures, Recogniser

OF_DATA = ("vectors", "wordnet", "esa", "svs")  # families of measures that exist only if the user names their data


def similarity(
    pairs: Path | Iterable[tuple[Text, Text]],
    measures: Any,
    *,
    vectors: str | Path | None = None,
    esa: str | Path | None = None,
    svs: str | Path | None = None,
    wordnet: str | Path | None = None,
    entities: str = "capitals",
    text: str | Sequence[str] = "penn-tokenize",
) -> Rows:
    """How alike in meaning two sentences are, a column for each measure or system.

    The columns are `first` and `second`, the two sentences, then the scores. Words are weighted by their rarity among
    the pairs, so give pairs of one kind together.

    `pairs`     pairs of texts or of sequences of words, or a Path: a file of pairs, as the STS tasks'
    `measures`  one or many: names of measures ("tfidf.stems"), metrics as `load` takes them ("chrf"), which score the
                first sentence with the second as its reference, files of `rerank similarity train`, the objects that
                `read_similarity` reads, or a dict of these by name
    `vectors`, `esa`, `svs`, `wordnet`, `entities`  the data of measures, as the options of `rerank similarity apply`
    `text`      the text steps of texts before measures; a system has its own. Words are taken as they are

    Raises TypeError for a value that is no pair; ConfigError for an unknown measure and for data that a system was
    trained with and that are not given, or others.

    >>> similarity([("The dog barks.", "The dogs bark."), ("A dog barks.", "It rains.")], ["strings.edits"])
    first           second          strings.edits
    The dog barks.  The dogs bark.       0.866667
    A dog barks.    It rains.            0.384615
    """
    given = list(read_sentence_pairs(pairs).pairs) if isinstance(pairs, Path) else checked_pairs(pairs)
    steps = pipeline_of(text)
    specs = named_measures(measures)
    paths = {"vectors": vectors, "wordnet": wordnet, "esa": esa, "svs": svs}
    files = {name: Path(path) for name, path in paths.items() if path is not None}
    known = measures_of(**files, entities=entities)
    columns: dict[str, FloatArray] = {}
    scorers = {name: metric_of(spec, known.names) or system_of(spec) for name, spec in specs.items()}
    alone = {name: str(specs[name]) for name, scorer in scorers.items() if scorer is None}
    for measure in alone.values():
        check_measure(measure, known)
    if alone:
        values = known.columns(tokens_of(given, steps), set(map(family_of, alone.values())))
        columns = {name: values[:, known.names.index(measure)] for name, measure in alone.items()}
    for name, scorer in scorers.items():
        if isinstance(scorer, Metric):
            columns[name] = metric_scores(scorer, given, steps)
        elif scorer is not None:
            columns[name] = score_pairs(scorer, given, known)
    rows = zip(
        *([shown(pair[side]) for pair in given] for side in (0, 1)),
        *(columns[name].tolist() for name in specs),
        strict=True,
    )
    return Rows(["first", "second", *specs], rows)


def named_measures(measures: Any) -> dict[str, Any]:
    """By name, the one or many measures and systems that are given. Raises ConfigError for two of the same name."""
    if isinstance(measures, Mapping):
        return {str(name): spec for name, spec in measures.items()}
    alone = isinstance(measures, str | Path) or not isinstance(measures, Iterable)
    specs: dict[str, Any] = {}
    for spec in [measures] if alone else measures:
        if (name := label_of(spec)) in specs:
            raise ConfigError(f"two measures are called {name!r}: give one a name, as in {{name: measure}}")
        specs[name] = spec
    return specs


def metric_of(spec: Any, measures: Collection[str]) -> Metric | None:
    """The metric that is given as an object or by its name, with options; None for what is none.

    The names of `measures` are not those of metrics. Raises ConfigError for wrong options of a metric.
    """
    if isinstance(spec, Metric):
        return spec
    if not isinstance(spec, str) or spec in measures:
        return None
    if all_plugins().find("metric", spec.partition(",")[0]) is None:
        return None
    metric: Metric = load(spec, "metric")
    return metric


def metric_scores(metric: Metric, pairs: Sequence[tuple[Text, Text]], text: TextPipeline) -> FloatArray:
    """(pairs) the sentence score of each first sentence with the second as its reference, after the text steps."""
    if not pairs:
        return np.zeros(0)
    words = tokens_of(pairs, text)
    sides = [[[" ".join(pair[side])] for pair in words] for side in (0, 1)]
    return metric.sentence_scores(metric.statistics(*sides))


def system_of(spec: Any) -> SimilarityModel | None:
    """The trained system that is given, or is in the file that is given; None for the name of a measure.

    Raises ConfigError for anything else, ModelError for a file of another kind.
    """
    if isinstance(spec, SimilarityModel):
        return spec
    if isinstance(spec, Path) or (isinstance(spec, str) and Path(spec).is_file()):
        return read_similarity(Path(spec))
    if not isinstance(spec, str):
        raise ConfigError(f"measures: wanted the name of a measure, a file or a trained system, found {spec!r:.60}")
    return None


def measures_of(
    vectors: Path | None = None, wordnet: Path | None = None, esa: Path | None = None, svs: Path | None = None,
    entities: str = "capitals",
) -> Measures:  # fmt: skip
    """The measures with these data. WordNet's folder may also be named by WNSEARCHDIR or WNHOME.

    The value `en` of `svs` stands for the embedded English models. A model of concepts has `svs.meaning` alone.

    Raises ModelError and FormatError for files that cannot be read, ConfigError for an unknown recogniser.
    """
    from rerank_plugins.kit.files.model_file import model_kind
    from rerank_plugins.similarity.esa_model import read_model as read_esa
    from rerank_plugins.similarity.measures.data_measures import THRESHOLD
    from rerank_plugins.similarity.measures.table import Measures
    from rerank_plugins.similarity.sentence_meanings import SentenceMeanings, read_concepts
    from rerank_plugins.similarity.wordnet import WordNet, wordnet_folder
    from rerank_plugins.svs.concept_model import FILE as CONCEPTS
    from rerank_plugins.svs.parser import parser_of_concepts
    from rerank_plugins.svs.parsing import SvsParser

    lexicon, folder = Lexicon(), wordnet_folder(wordnet)
    path = EMBEDDED if str(svs) == "en" else svs
    concepts = None if path == EMBEDDED else path
    concepts_alone = path is not None and path.is_file() and model_kind(path) == CONCEPTS.kind
    return Measures(
        read_vectors(vectors) if vectors else None,
        lexicon,
        recogniser_of(entities),
        WordNet(folder, lexicon.unigrams.frequencies()) if folder else None,
        read_esa(esa) if esa else None,
        SvsParser(read_model(path), THRESHOLD) if path and not concepts_alone else None,
        SentenceMeanings(parser_of_concepts(concepts), read_concepts(concepts)) if path else None,
    )


def recogniser_of(text: str) -> Recogniser | None:
    """None for `capitals`; Stanza's for `stanza` or `stanza,option=value,…`. Raises ConfigError for anything else."""
    from rerank_adapters.config import plugin_table

    table = plugin_table(text)
    kind = table.pop("use")
    if kind == "capitals" and not table:
        return None
    if kind != "stanza":
        raise ConfigError(f"--entities is {text!r}; wanted capitals, or stanza[,folder=DIR][,model=FILE]…")
    return StanzaEntities.of(table)


def measure(
    sentences: SentencePairs, measures: Measures, text: TextPipeline, only: Collection[str] | None = None
) -> FloatArray:
    """(pairs, measures) the values of all measures; the columns of families that are not in `only` are 0."""
    return measures.columns(tokens_of(sentences.pairs, text), only)


def tokens_of(pairs: Sequence[tuple[Text, Text]], text: TextPipeline) -> list[tuple[Words, Words]]:
    """The words of both sentences of each pair."""
    first, second = (words_of([pair[side] for pair in pairs], text, "pairs") for side in (0, 1))
    return list(zip(first, second, strict=True))


def family_of(name: str) -> str:
    """The family of a measure: `tfidf` for `tfidf.words`."""
    return name.partition(".")[0]


def one_measure(name: str, measures: Measures, text: tuple[str, ...]) -> SimilarityModel:
    """A system that returns the value of one measure, on its own scale. Raises ConfigError for an unknown measure."""
    check_measure(name, measures)
    regression = Regression((name,), np.ones(1), 0.0)
    return SimilarityModel("one", (name,), {name: regression}, (-np.inf, np.inf), text, vectors=measures.vectors)


def check_measure(name: str, measures: Measures) -> None:
    """Raise ConfigError for an unknown measure, and for one whose data are not given."""
    if name not in measures.names:
        family = family_of(name)
        hint = f" (those of {family} need --{family})" if family in OF_DATA and family not in measures.families else ""
        raise ConfigError(f"no measure is named {name!r}{suggestion(name, measures.names)}{hint}")


def score_pairs(model: SimilarityModel, pairs: Sequence[tuple[Text, Text]], measures: Measures) -> FloatArray:
    """(pairs) scores on the scale of the training pairs; `measures` has the data that the model does not hold.

    Two sentences of the same tokens, at least one, have the highest score of the scale.
    Raises ConfigError if these data are missing or differ from those of training.
    """
    check_data(model, measures)
    measures = replace(measures, vectors=model.vectors)
    tokens = tokens_of(pairs, TextPipeline(model.text))
    values = measures.columns(tokens, model.families)
    columns = dict(zip(measures.names, values.T, strict=True))
    absent = np.zeros(len(values))  # for columns that no score depends on
    scores = model.scores(np.column_stack([columns.get(name, absent) for name in model.names]))
    if np.isfinite(model.scale[1]):
        scores[[bool(a) and a == b for a, b in tokens]] = model.scale[1]
    return scores


def check_data(model: SimilarityModel, measures: Measures) -> None:
    """Raise ConfigError if data that the model was trained with are missing or differ."""
    for family, trained in model.data.items():
        data = measures.data.get(family)
        if data != trained:
            wanted = f"the system was trained with {trained} (measures of {family})"
            raise ConfigError(f"{wanted}: give it by --{family}" if data is None else f"{wanted}, not with {data}")
