"""Values of the decoder's own word alignment: links of the source f_1 … f_l with a hypothesis e_1 … e_m.

Moses writes them with `--print-alignment-info` in the last column of a list, `0-0 1-2`; other formats with `|||` have
such a column too.

    unlinked_target    -#{j : e_j has no link}
    unlinked_source    -#{i : f_i has no link}
    distance           -mean |i / l - j / m| over the links; -1 without links

Higher is better. Links count the words of the file, so text steps that join or split words do not go with this feature.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.core.errors import ConfigError
from rerank_plugins.core.interfaces import FeatureExtractor
from rerank_plugins.core.nbest import NBestList
from rerank_plugins.kit.nbest_lists import source_of


@dataclass(frozen=True)
class DecoderAlignmentFeature(FeatureExtractor):
    """The alignment column of the lists: words without a link on each side, mean distance from the diagonal."""

    scope: ClassVar[Literal["text", "list"]] = "list"  # the same text may have several alignments

    @property
    def components(self) -> tuple[str, ...]:
        """`unlinked_target`, `unlinked_source`, `distance`."""
        return ("unlinked_target", "unlinked_source", "distance")

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, 3) values.

        Raises ConfigError for a list without a source, a hypothesis without links, and links beyond its words.
        """
        values = np.zeros((len(nbest), 3))
        if not len(nbest):
            return values
        length = len(source_of(nbest, "decoder-alignment").split())
        for row, hypothesis in enumerate(nbest):
            where = f"decoder-alignment: segment {nbest.segment_id}, hypothesis {row + 1}"
            if hypothesis.links is None:
                raise ConfigError(f"{where} has no column of links such as 0-0 1-2 (in Moses, --print-alignment-info)")
            size = len(hypothesis.words)
            links = _numbers(hypothesis.links)
            if len(links) and (links.max(axis=0) >= (length, size)).any():
                ends = "-".join(map(str, links.max(axis=0).tolist()))
                raise ConfigError(f"{where} has links up to {ends}, but {length} source words and {size} of its own")
            linked = [len(np.unique(side)) for side in links.T]
            away = np.abs((links[:, 0] + 1) / max(length, 1) - (links[:, 1] + 1) / max(size, 1))
            values[row] = linked[1] - size, linked[0] - length, -away.mean() if len(links) else -1.0
        return values


def _numbers(links: str) -> LongArray:
    """(n, 2) the source word and the word of the hypothesis of each link."""
    return np.array(links.replace("-", " ").split(), np.int64).reshape(-1, 2)
