"""`rerank similarity apply` and `evaluate`: the measures with their data, scores of sentence pairs, and correlations.

The 95 % intervals of Pearson's r and Spearman's ρ use Fisher's transformation: tanh(atanh(r) ± z s), with s = 1 / √(n -
3) for r and s = √((1 + ρ²/2) / (n - 3)) for ρ (Bonett and Wright 2000). The correlation with constant values is
undefined: it is given as 0. The interval of three pairs or fewer is [-1, 1].
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from math import atanh, sqrt, tanh
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from rerank_adapters.applications.similarity.model import Regression, SimilarityModel, read_similarity
from rerank_adapters.applications.similarity.pairs_file import SentencePairs, read_sentence_pairs
from rerank_adapters.chain.overlap import LEARNT, warn_of_learnt
from rerank_adapters.commands import options
from rerank_adapters.commands.closing import Closing
from rerank_adapters.evaluation.significance import Interval, Z
from rerank_adapters.report.tables import Table
from rerank_adapters.runtime.progress import StatusLine, counted
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, FormatError
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.registry import suggestion
from rerank_plugins.dependency.stanza_parser import StanzaEntities
from rerank_plugins.kit.files.text import open_atomic
from rerank_plugins.similarity.measures.sentence_parts import Lexicon
from rerank_plugins.similarity.random_indexing import read_model as read_vectors
from rerank_plugins.svs.model import EMBEDDED, read_model

if TYPE_CHECKING:
    from rerank_plugins.similarity.measures.table import Measures, Recogniser

DATA = ("vectors", "esa", "svs", "wordnet", "entities")
OF_DATA = ("vectors", "wordnet", "esa", "svs")  # families of measures that exist only if the user names their data


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


def data_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options for the data of measures; the command gets them as one argument, `data`, to pass to `measures_of`."""
    options = (
        click.option("--vectors", type=Path, metavar="MODEL", help="From `rerank train random-indexing`: vectors.*"),
        click.option("--esa", type=Path, metavar="MODEL", help="From `rerank train esa`: esa.*"),
        click.option("--svs", type=Path, metavar="MODEL",
                     help="From `rerank train svs` or `svs-concepts`, or en (embedded): svs.*"),
        click.option("--wordnet", type=Path, metavar="FOLDER",
                     help="Database files of WordNet: wordnet.*  Default: $WNSEARCHDIR or $WNHOME/dict."),
        click.option("--entities", default="capitals", show_default=True, metavar="NAME",
                     help="Recogniser of names: capitals, or stanza[,folder=DIR][,package=NAME][,model=FILE]."),
    )  # fmt: skip

    @wraps(command)
    def with_data(*args: Any, **values: Any) -> Any:
        return command(*args, data={name: values.pop(name) for name in DATA}, **values)

    for option in reversed(options):
        with_data = option(with_data)
    return with_data


def similarity_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options for what computes the scores, a trained model or one measure, and for the data of measures."""
    for option in (
        options.text_option,
        data_options,
        click.option("--measure", metavar="NAME", help="Use this one measure instead of a model, such as tfidf.stems."),
        click.option("-m", "--model", type=Path, help="Model of `rerank similarity train`."),
    ):
        command = option(command)
    return command


def similarity_of(
    model: Path | None, measure: str | None, data: Mapping[str, Any], steps: tuple[str, ...]
) -> tuple[SimilarityModel, Measures]:
    """The system and the measures that the options name. Raises ConfigError unless they name a model or a measure."""
    if (model is None) == (measure is None):
        raise ConfigError("give a model (-m MODEL), or a measure (--measure NAME)")
    if measure is not None:
        measures = measures_of(**data)
        return one_measure(measure, measures, options.text_steps(steps)), measures
    if data["vectors"] or steps:
        raise ConfigError("--vectors and --text are for a measure: the model has its own")
    assert model is not None
    return read_similarity(model), measures_of(**data)


def measure(
    sentences: SentencePairs, measures: Measures, text: TextPipeline, only: Collection[str] | None = None
) -> FloatArray:
    """(pairs, measures) the values of all measures; the columns of families that are not in `only` are 0."""
    return measures.columns(_tokens(sentences, text), only)


def _tokens(sentences: SentencePairs, text: TextPipeline) -> list[tuple[list[str], list[str]]]:
    first, second = (text.apply([pair[side] for pair in sentences.pairs]) for side in (0, 1))
    return [(a.split(), b.split()) for a, b in zip(first, second, strict=True)]


def family_of(name: str) -> str:
    """The family of a measure: `tfidf` for `tfidf.words`."""
    return name.partition(".")[0]


def one_measure(name: str, measures: Measures, text: tuple[str, ...]) -> SimilarityModel:
    """A system that returns the value of one measure, on its own scale. Raises ConfigError for an unknown measure."""
    if name not in measures.names:
        family = family_of(name)
        hint = f" (those of {family} need --{family})" if family in OF_DATA and family not in measures.families else ""
        raise ConfigError(f"no measure is named {name!r}{suggestion(name, measures.names)}{hint}")
    regression = Regression((name,), np.ones(1), 0.0)
    return SimilarityModel("one", (name,), {name: regression}, (-np.inf, np.inf), text, vectors=measures.vectors)


def score_pairs(model: SimilarityModel, sentences: SentencePairs, measures: Measures) -> FloatArray:
    """(pairs) scores on the scale of the training pairs; `measures` has the data that the model does not hold.

    Two sentences of the same tokens, at least one, have the highest score of the scale.
    Raises ConfigError if these data are missing or differ from those of training.
    """
    check_data(model, measures)
    measures = replace(measures, vectors=model.vectors)
    tokens = _tokens(sentences, TextPipeline(model.text))
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


@dataclass(frozen=True)
class Correlation:
    """The correlations of `pairs` pairs of numbers, with their 95 % confidence intervals."""

    pearson: float
    pearson_interval: Interval
    spearman: float
    spearman_interval: Interval
    pairs: int


def correlate(a: FloatArray, b: FloatArray) -> Correlation:
    """The correlations of (n) numbers with (n) others."""
    r, rho = pearson(a, b), pearson(ranks(a), ranks(b))
    return Correlation(r, _interval(r, len(a), 1.0), rho, _interval(rho, len(a), 1 + rho * rho / 2), len(a))


def pearson(a: FloatArray, b: FloatArray) -> float:
    """Pearson's r; 0 if either side is constant, up to rounding."""
    if len(a) < 2:
        return 0.0
    x, y = a - a.mean(), b - b.mean()
    norm = float(sqrt(float(x @ x) * float(y @ y)))
    tiny = 1e-12 * len(a) * (1 + float(np.abs(a).max())) * (1 + float(np.abs(b).max()))
    return max(-1.0, min(1.0, float(x @ y) / norm)) if norm > tiny else 0.0


def ranks(values: FloatArray) -> FloatArray:
    """Ranks from 0; equal values have the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts + 1) / 2)[inverse], np.float64)


def _interval(r: float, pairs: int, variance: float) -> Interval:
    if pairs <= 3:
        return Interval(-1.0, 1.0)
    if abs(r) == 1:
        return Interval(r, r)
    half = Z * sqrt(variance / (pairs - 3))
    return Interval(tanh(atanh(r) - half), tanh(atanh(r) + half))


def similarity_records(model: SimilarityModel, paths: Sequence[Path], measures: Measures) -> list[dict[str, Any]]:
    """A record for each file of scored pairs: the correlations of the system's scores with the human ones.

    For several files, their mean follows, weighted by their numbers of pairs. Raises FormatError for a file without
    scores.
    """
    records: list[dict[str, Any]] = []
    for path in paths:
        pairs = read_sentence_pairs(path)
        if pairs.scores is None:
            raise FormatError("the pairs have no scores to compare with", path=pairs.name)
        result = correlate(score_pairs(model, pairs, measures), pairs.scores)
        record: dict[str, Any] = {"pairs_file": pairs.name, "pairs": result.pairs}
        for kind, value, (low, high) in (
            ("pearson", result.pearson, result.pearson_interval),
            ("spearman", result.spearman, result.spearman_interval),
        ):
            record |= {kind: value, f"{kind}_low": low, f"{kind}_high": high}
        records.append(record)
    if len(records) > 1:
        weights = [record["pairs"] for record in records]
        mean = {key: float(np.average([r[key] for r in records], weights=weights)) for key in ("pearson", "spearman")}
        records.append({"pairs_file": "weighted mean", "pairs": sum(weights), **mean})
    return records


def similarity_table(records: Sequence[dict[str, Any]]) -> Table:
    """The records as a table."""
    rows = []
    for record in records:
        cells = [Path(record["pairs_file"]).name, f"{record['pairs']:,}"]
        for kind in ("pearson", "spearman"):
            low, high = record.get(f"{kind}_low"), record.get(f"{kind}_high")
            cells.append(f"{record[kind]:.3f}" + ("" if low is None else f" [{low:.3f}, {high:.3f}]"))
        rows.append(tuple(cells))
    header = ("file", "pairs", "Pearson r [95 %]", "Spearman ρ [95 %]")
    return Table("Correlation with human scores", header, tuple(rows), ("The intervals are Fisher's.",))


@click.command("apply")
@click.argument("pairs", type=Path)
@similarity_options
@click.option("--with-pairs", is_flag=True, help="Also write the two sentences after each score.")
@options.output_option("Write the scores to this file.")
def apply(
    pairs: Path, model: Path | None, measure: str | None, data: dict[str, Any], steps: tuple[str, ...],
    with_pairs: bool, output: Path,
) -> None:  # fmt: skip
    """Score the similarity of PAIRS of sentences, one pair per line.

    Words are weighted by their rarity among the pairs of the file, so score pairs of one kind together.
    """
    closing = Closing()
    sentences = read_sentence_pairs(pairs)
    system, measures = similarity_of(model, measure, data, steps)
    with StatusLine("scoring pairs of sentences"):
        scores = score_pairs(system, sentences, measures)
    with open_atomic(output) as out:
        for score, pair in zip(scores.tolist(), sentences.pairs, strict=True):
            out.write("\t".join([f"{score:.4f}", *(pair if with_pairs else ())]) + "\n")
    closing.wrote(f"scores of {counted(len(scores), 'pair')}", output)


@click.command("evaluate")
@click.argument("files", nargs=-1, required=True, type=Path, metavar="FILE...")
@similarity_options
@options.style_option
def evaluate(
    files: tuple[Path, ...], model: Path | None, measure: str | None, data: dict[str, Any], steps: tuple[str, ...],
    style: str,
) -> None:  # fmt: skip
    """Correlate scores with human scores (Pearson and Spearman), for each FILE of scored pairs and on average."""
    from rerank_adapters.report.output import write_records

    system, measures = similarity_of(model, measure, data, steps)
    warn_of_learnt(system.provenance.get(LEARNT), f"the system {model} was", files)
    with StatusLine("scoring pairs of sentences"):
        records = similarity_records(system, files, measures)
    write_records(records, [similarity_table(records)], style)
