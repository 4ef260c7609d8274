"""The limits that a server sets to a request: the size of its body and of its lists, and its time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rerank_plugins import FormatError, NBestList


@dataclass(frozen=True)
class Limits:
    """The limits of a server.

    `body`        bytes of a request's body
    `lists`       lists of a request
    `hypotheses`  hypotheses of a list
    `words`       words of a hypothesis, a source sentence or a context
    `seconds`     time of a request, from its first byte to its answer; its body must arrive within the same time
    `waiting`     requests that wait for a process
    `connections` connections at a time
    """

    body: int = 4_000_000
    lists: int = 100
    hypotheses: int = 1_000
    words: int = 200
    seconds: float = 30.0
    waiting: int = 64
    connections: int = 512

    def checked(self, nbests: Iterable[NBestList]) -> Iterator[NBestList]:
        """Yield the lists while they keep to the limits. Raises FormatError at the first one that does not."""
        for number, nbest in enumerate(nbests, 1):
            where = f"segment {nbest.segment_id}"
            if number > self.lists:
                raise FormatError(f"the request has more than {self.lists} lists, the most that this server takes")
            if len(nbest) > self.hypotheses:
                raise FormatError(f"{where} has {len(nbest)} hypotheses; this server takes at most {self.hypotheses}")
            for text in (*nbest.texts, nbest.source or "", nbest.context or ""):
                if (words := len(text.split())) > self.words:
                    raise FormatError(f"{where} has a text of {words} words; this server takes at most {self.words}")
            yield nbest
