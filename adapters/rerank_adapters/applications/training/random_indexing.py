"""Training random-indexing vectors from files, and the report on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rerank_adapters.formats.compressed import display_name, open_text
from rerank_adapters.progress import StatusLine
from rerank_plugins.models.random_indexing.model import RandomIndexModel
from rerank_plugins.models.random_indexing.model_file import write_model
from rerank_plugins.models.random_indexing.training import Settings, train


def train_vectors(
    texts: Sequence[str], output: Path, settings: Settings, jobs: int, say: Callable[[str], None]
) -> RandomIndexModel:
    """Train on files, write the model, and say what it is and took."""
    started = time.monotonic()
    with StatusLine() as stages:
        model = train(_opened(texts), settings, jobs=jobs, progress=stages)
        model = replace(model, provenance={**model.provenance, "texts": [display_name(text) for text in texts]})
        stages("writing")
        size = write_model(model, output)
    seconds = time.monotonic() - started
    tokens = model.provenance["words"]
    say(f"{model.total_documents:,} documents, {tokens:,} words, {len(model.words):,} of them different and known")
    say(f"{', '.join(model.spaces)}: {seconds:.1f} s, {tokens / seconds:,.0f} words/s")
    say(f"{output}: {size / 1e6:.2f} MB")
    return model


def _opened(texts: Sequence[str]) -> Iterator[tuple[str, Iterator[str]]]:
    for text in texts:
        with open_text(text) as lines:
            yield display_name(text), lines
