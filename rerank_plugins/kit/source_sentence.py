"""The source sentence of a list, for features that compare with it."""

from __future__ import annotations

from rerank_plugins.core.errors import ConfigError
from rerank_plugins.core.nbest import NBestList


def source_of(nbest: NBestList, feature: str) -> str:
    """The source sentence of a list. Raises ConfigError where there is none."""
    if nbest.source is None:
        problem = f"{feature} compares with the source sentence, and segment {nbest.segment_id} has none"
        raise ConfigError(
            f"{problem}: give it as `source` (a file for a command or a config, the sentence itself in Python and in a"
            " request)"
        )
    return nbest.source
