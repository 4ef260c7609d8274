"""Print what the four syntactic families cost: CPU milliseconds for each hypothesis, in its list and alone.

LISTS are n-best lists in the format of Moses. With --noisy-text, lists are made of the sentences of a text instead: each
holds a sentence and copies of it with one to three errors inserted. Nothing is cached on disk, and kernels are compiled
before the clock starts; of features that share a parser, the first one pays for the trees. "Apart" are some of the hypotheses in lists of two from different lists, which share hardly anything.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

import click
import numpy as np

from docs.results.scripts.experiment import FILE, experiment, say
from docs.results.scripts.texts import sentences_of_text
from rerank_adapters.applications.negatives.inserted_errors import ErrorInserter
from rerank_adapters.applications.negatives.word_forms import WordForms
from rerank_adapters.builtin import BUILTIN
from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.job.specs import Names, Spec, plugin_table
from rerank_adapters.report.tables import Table
from rerank_adapters.report.text import markdown_table
from rerank_plugins import FeatureExtractor, Hypothesis, NBestList, RerankError
from rerank_plugins.core.loader import load_plugins

FEATURES = (
    "dependency-lm", "treelet-lm", "hhmm-lm,beam=50", "hhmm-lm,beam=200", "svs-similarity",
    "svs-similarity,measures=meaning",
)  # fmt: skip


def noisy_lists(path: Path, words: int, size: int, count: int, seed: int = 1) -> list[NBestList]:
    """Lists of `size` distinct hypotheses over the first `count` sentences of about `words` words of a text."""
    rng = np.random.default_rng(seed)
    sentences = sentences_of_text(path, 50_000)
    inserter = ErrorInserter(WordForms.of_text(sentences))
    lists: list[NBestList] = []
    for sentence in (s for s in sentences if abs(len(s) - words) <= 2):
        variants = {tuple(sentence): None}
        for _ in range(50 * size):
            variant = tuple(sentence)
            for _ in range(int(rng.integers(1, 4))):
                edit = inserter.insert(variant, rng)
                variant = variant if edit is None else edit.apply(variant)
            variants.setdefault(variant)
            if len(variants) == size:
                break
        lists.append(NBestList(str(len(lists)), tuple(Hypothesis(" ".join(variant)) for variant in variants)))
        if len(lists) == count:
            return lists
    raise RerankError(f"{path}: only {len(lists)} sentences of about {words} words; wanted {count}")


def cost(extractor: FeatureExtractor, lists: Sequence[NBestList]) -> float:
    """CPU milliseconds for each hypothesis."""
    begin = time.process_time()
    extractor.extract_all(lists)
    return 1000 * (time.process_time() - begin) / sum(map(len, lists))


@experiment("feature_cost", __doc__)
@click.argument("lists", type=FILE)
@click.option("--noisy-text", is_flag=True, help="LISTS is a text; make the lists of its sentences.")
@click.option("--words", default=40, help="With --noisy-text: words in a sentence.")
@click.option("--size", default=100, help="With --noisy-text: hypotheses in a list.")
@click.option("--first", default=0, help="Leave out this many lists at the beginning.")
@click.option("--count", default=18, help="Number of lists, besides one before them that compiles the kernels.")
@click.option("--features", "-f", multiple=True, default=FEATURES, help="Features with their options.")
def main(lists: Path, noisy_text: bool, words: int, size: int, first: int, count: int, features: Sequence[str]) -> None:
    """Print the table."""
    with patch.dict(os.environ, {"RERANK_CACHE": ""}):  # nothing is to come from the cache, nor to go there
        if noisy_text:
            nbests = noisy_lists(lists, words, size, first + count + 1)[first:]
        else:
            nbests = read_nbest([lists], FORMATS["moses"]())[first : first + count + 1]
        hypotheses = [hypothesis for nbest in nbests for hypothesis in nbest]
        step = max(2, len(hypotheses) // 100)
        first_half, second_half = hypotheses[: len(hypotheses) // 2], hypotheses[len(hypotheses) // 2 :]
        pairs = zip(first_half[::step], second_half[::step], strict=False)
        alone = [NBestList(str(number), pair) for number, pair in enumerate(pairs)]
        apart = {hypothesis.text for pair in alone for hypothesis in pair}  # not to be known from their lists
        warming, *nbests = [nbest.select([i for i, h in enumerate(nbest) if h.text not in apart]) for nbest in nbests]
        names = Names(load_plugins(BUILTIN), Path())
        rows, extractors = [], []  # which keep parsers that they share
        for spec in features:
            say(spec)
            extractor = Spec.read("feature", plugin_table(spec), names, spec).make()
            extractors.append(extractor)
            extractor.extract_all([warming])  # loads the model and compiles the kernels
            listed, single = cost(extractor, nbests), cost(extractor, alone)
            rows.append((spec, f"{listed:.2f}", f"{single:.2f}", f"{single / listed:.1f}"))
        length = np.mean([len(h.text.split()) for h in hypotheses])
        total = sum(len(nbest) for nbest in nbests)
        note = f"{len(nbests)} lists, {total:,} hypotheses of {length:.0f} words on average; one core, nothing cached."
        header = ("feature", "ms in its list", "ms apart", "ratio")
        click.echo(
            markdown_table(Table("Cost of the syntactic features for each hypothesis", header, tuple(rows), (note,)))
        )


if __name__ == "__main__":
    main()
