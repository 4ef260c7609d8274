"""Reads the model that a plugin's options name, or the embedded English one, and checks the options of the beam."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rerank_plugins.kit.files.embedded import embedded, shared_if_embedded
from rerank_plugins.kit.files.model_file import read_trained_on

if TYPE_CHECKING:
    from rerank_plugins.constituency.grammar import Grammar
    from rerank_plugins.hhmm.event_counts import Events

EMBEDDED = embedded("hhmm.pcfg")
BEAM, THRESHOLD = 200, 1e-5  # defaults of the beam


def read_or_embedded(model: Path | None, language: str = "") -> tuple[Grammar, Events | None]:
    """Read a grammar and the events of its trees, if the file has them; the embedded grammar if `model` is None.

    All that use the embedded grammar share it; it has no events. Raises ModelError as `read_hhmm` does, and for a model
    that was trained for another language than `language`, unless that is empty.
    """
    from rerank_plugins.constituency.model_file import read_grammar
    from rerank_plugins.hhmm.model_file import read_hhmm

    read = read_hhmm(model) if model else (shared_if_embedded(EMBEDDED, read_grammar), None)
    read_trained_on(model or EMBEDDED).check_language(language, model or EMBEDDED)
    return read


def check_beam(beam: int, depth: int, threshold: float) -> None:
    """Raise ValueError if an option is out of range."""
    if beam < 0 or not 1 <= depth <= 63 or not 0 <= threshold < 1:
        raise ValueError("beam is 0 or more, depth from 1 to 63, threshold from 0 to below 1")
