"""A plugin for translation: how much of the source a hypothesis covers, by word pairs learnt from parallel text."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import click
import numpy as np

from rerank_plugins import (
    ConfigError,
    FeatureExtractor,
    FloatArray,
    FormatError,
    NBestList,
    PickledFields,
    hookimpl,
    open_text,
    option,
    read_model,
    word_array,
    words_from,
    write_model,
)

KIND = "source-coverage"  # what the model file says it holds


@dataclass
class SourceCoverageFeature(PickledFields, FeatureExtractor):
    """Proportions of source words translated in the hypothesis, and of hypothesis words that translate one."""

    model: Path = option(doc="model file of `rerank train source-coverage`")

    @property
    def components(self) -> tuple[str, ...]:
        """`source` (recall) and `hypothesis` (precision), both in [0, 1]."""
        return ("source", "hypothesis")

    @cached_property
    def _pairs(self) -> frozenset[str]:
        """The pairs of a source word and a target word; read on first use, in each process."""
        _, arrays = read_model(self.model, KIND)  # ModelError, in one line: missing, damaged, of another kind
        return frozenset(words_from(arrays["pairs"]))

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, 2) proportions; 0 for an empty hypothesis. Raises ConfigError for a list without source, ModelError."""
        values = np.zeros((len(nbest), 2))
        if not len(nbest):  # an empty list needs no source
            return values
        if nbest.source is None:
            raise ConfigError(f"source-coverage: segment {nbest.segment_id} has no source sentence: name a source file")
        source = nbest.source.split()
        for row, text in enumerate(nbest.texts):
            target = text.split()
            if source and target:
                covered = sum(any(f"{f} {e}" in self._pairs for e in target) for f in source)
                explained = sum(any(f"{f} {e}" in self._pairs for f in source) for e in target)
                values[row] = covered / len(source), explained / len(target)
        return values


def word_pairs(source: list[str], target: list[str], keep: int) -> list[str]:
    """For each source word the `keep` target words with the highest Dice coefficient 2 c(f, e) / (c(f) + c(e))."""
    both: Counter[tuple[str, str]] = Counter()
    sources: Counter[str] = Counter()
    targets: Counter[str] = Counter()
    for f_line, e_line in zip(source, target, strict=True):
        f_words, e_words = set(f_line.split()), set(e_line.split())
        sources.update(f_words)
        targets.update(e_words)
        both.update((f, e) for f in f_words for e in e_words)
    ranked = sorted(both, key=lambda pair: (-2 * both[pair] / (sources[pair[0]] + targets[pair[1]]), pair))
    kept: Counter[str] = Counter()
    pairs = []
    for f, e in ranked:
        if kept[f] < keep:
            kept[f] += 1
            pairs.append(f"{f} {e}")
    return pairs


@click.command("source-coverage")
@click.argument("source")
@click.argument("target")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Write the model to this file.")
@click.option("--keep", default=3, show_default=True, type=click.IntRange(min=1), help="Translations of a word.")
def train(source: str, target: str, output: Path, keep: int) -> None:
    """Learn word pairs from SOURCE and TARGET, parallel text with one sentence per line, compressed or not."""
    with open_text(source) as lines:  # gz, xz, bz2, zst, plain text, and `-` for stdin
        source_lines = list(lines)
    with open_text(target) as lines:
        target_lines = list(lines)
    if len(source_lines) != len(target_lines):
        wanted = f"{len(target_lines)} lines, wanted {len(source_lines)}, as in {source}"
        raise FormatError(wanted, path=target)
    pairs = word_pairs(source_lines, target_lines, keep)
    if not pairs:
        raise FormatError("no words to learn from", path=source)
    size = write_model(output, KIND, {"keep": keep}, {"pairs": word_array(pairs)})
    click.echo(f"{output}: {len(pairs):,} word pairs, {size:,} bytes")


@hookimpl
def register_feature_extractors(register):
    """Register the feature."""
    register("source-coverage", SourceCoverageFeature)


@hookimpl
def register_commands(cli):
    """Add `rerank train source-coverage`."""
    cli.subgroup("train").add_command(train)
