"""Takes lists that arrive one by one, as from a decoder, without waiting for more than have arrived.

A thread reads. While lists come slowly each of them is a group of its own; while they come faster than they are
processed, as many as are there make a group, up to a size, so that a fast stream is processed in batches. What is read
ahead is bounded too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from threading import Condition, Thread

from rerank_adapters.chain.extraction.chunk import LARGEST
from rerank_plugins import NBestList


def as_they_come(nbests: Iterable[NBestList], most: int = LARGEST) -> Iterator[list[NBestList]]:
    """Yield the lists in groups of one list, or of all that wait, up to about `most` hypotheses.

    An error of the reader is raised after the lists that came before it.
    """
    reader = _Reader(nbests, most)
    Thread(target=reader.read, name="lists", daemon=True).start()  # it may wait for input for ever
    while group := reader.take():
        yield group
    if reader.error is not None:
        raise reader.error


class _Reader:
    """Lists between the thread that reads them and the one that takes them."""

    def __init__(self, nbests: Iterable[NBestList], most: int) -> None:
        self.error: BaseException | None = None
        self._nbests, self._most = nbests, most
        self._waiting: deque[NBestList] = deque()
        self._rows = 0
        self._ended = False
        self._changed = Condition()

    def read(self) -> None:
        """Read all lists; wait while as many hypotheses as a group may have are there already."""
        try:
            for nbest in self._nbests:
                with self._changed:
                    self._changed.wait_for(lambda: self._rows < self._most)
                    self._waiting.append(nbest)
                    self._rows += len(nbest)
                    self._changed.notify_all()
        except BaseException as error:
            self.error = error
        finally:
            with self._changed:
                self._ended = True
                self._changed.notify_all()

    def take(self) -> list[NBestList]:
        """The lists that are there, or the next one; empty at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._ended)
            group = list(self._waiting)
            self._waiting.clear()
            self._rows = 0
            self._changed.notify_all()
            return group
