"""The keys of hypotheses in the cache of feature values: hashes of all that a value depends on besides the feature.

A feature of sentences (SentenceFeature) depends on the text alone, so that a hypothesis has the same key in every list.
Other features of scope "text" may read the source as well, and those of scope "list" anything in the list. A feature
`by_row` reads nothing but the numbers of the hypotheses in their files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import numpy as np

from rerank_adapters.chain.extraction.fingerprint import of_lists
from rerank_adapters.chain.extraction.value_cache import Keys
from rerank_plugins import FeatureExtractor, NBestList
from rerank_plugins.core.interfaces import SentenceFeature

SIZE = 16  # bytes of a key

KeysOf = Callable[[Sequence[NBestList]], Keys]


def keys_for(extractor: FeatureExtractor) -> KeysOf:
    """The function that gives each hypothesis of some lists its key, (rows, 2), by what this extractor can read."""
    if extractor.by_row:
        return of_rows
    if extractor.scope == "list":
        return of_whole_lists
    kind = type(extractor)
    inherited = kind.extract is SentenceFeature.extract and kind.extract_all is SentenceFeature.extract_all
    return of_texts if inherited else of_texts_and_sources


def of_texts(nbests: Sequence[NBestList]) -> Keys:
    """Keys by the text of a hypothesis."""
    return _keys([_hash(text) for nbest in nbests for text in nbest.texts])


def of_texts_and_sources(nbests: Sequence[NBestList]) -> Keys:
    """Keys by the source, the id and the context of the list, and the text of a hypothesis."""
    hashes = []
    for nbest in nbests:
        around = _hash(repr((nbest.source, nbest.segment_id, nbest.context)))
        hashes += [_hash(text, around) for text in nbest.texts]
    return _keys(hashes)


def of_whole_lists(nbests: Sequence[NBestList]) -> Keys:
    """Keys by everything in the list and the number of the hypothesis in it."""
    firsts = _keys([bytes.fromhex(of_lists([nbest]))[:SIZE] for nbest in nbests])
    sizes = np.array([len(nbest) for nbest in nbests], np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    numbers = np.arange(sizes.sum()) - np.repeat(starts, sizes)
    keys = np.repeat(firsts, sizes, axis=0)
    keys[:, 0] += numbers.astype(np.uint64)  # modulo 2^64: first halves must differ (value_cache.py)
    return keys


def of_rows(nbests: Sequence[NBestList]) -> Keys:
    """Keys by the number of a hypothesis in its files; those of a list without numbers are of the whole list."""
    parts = [
        _keys([_hash(f"row {row}") for row in nbest.rows]) if len(nbest.rows) else of_whole_lists([nbest])
        for nbest in nbests
    ]
    return np.concatenate([_keys([]), *parts])


def _hash(text: str, around: bytes = b"") -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=SIZE, key=around).digest()


def _keys(hashes: Sequence[bytes]) -> Keys:
    return np.frombuffer(b"".join(hashes), np.uint64).reshape(-1, 2).copy()
