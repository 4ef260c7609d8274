"""The embedded English model, and a check of the options that the language model and the parser share."""

from __future__ import annotations

from rerank_plugins.resources import embedded

EMBEDDED = embedded("hhmm.pcfg")


def check_beam(beam: int, depth: int, threshold: float) -> None:
    """Raise ValueError if an option is out of range."""
    if beam < 0 or not 1 <= depth <= 63 or not 0 <= threshold < 1:
        raise ValueError("beam is 0 or more, depth from 1 to 63, threshold from 0 to below 1")
