"""Indexing a collection of documents for explicit semantic analysis, and the report on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rerank_adapters.formats.compressed import display_name, open_text
from rerank_adapters.progress import StatusLine
from rerank_plugins.models.esa.documents import Document, documents
from rerank_plugins.models.esa.model import EsaModel
from rerank_plugins.models.esa.model_file import write_model
from rerank_plugins.models.esa.training import Settings, train


def train_esa(
    texts: Sequence[str], output: Path, form: str, settings: Settings, say: Callable[[str], None]
) -> EsaModel:
    """Index files, write the model, and say what it is and took."""
    started = time.monotonic()
    with StatusLine() as stages:
        model = train(_documents(texts, form), settings, progress=stages)
        source = {"texts": [display_name(text) for text in texts], "form": form}
        model = replace(model, provenance={**model.provenance, **source})
        stages("writing")
        size = write_model(model, output)
    seconds = time.monotonic() - started
    tokens, every = model.provenance["words"], model.provenance["documents"]
    say(f"{every:,} documents, {len(model.titles):,} of them long enough; {tokens:,} words, {len(model.words):,} known")
    say(f"{len(model.documents):,} entries: {seconds:.1f} s, {tokens / seconds:,.0f} words/s")
    say(f"{output}: {size / 1e6:.2f} MB")
    return model


def _documents(texts: Sequence[str], form: str) -> Iterator[Document]:
    for text in texts:
        with open_text(text) as lines:
            yield from documents(Path(display_name(text)).name, lines, form)
