"""The similarity of two words by WordNet (Fellbaum 1998): that of their most similar senses of the same part of speech.

NLTK reads the files and finds the base forms of words. The measures are our own, because those of NLTK take 0.2 ms for
a pair of senses, and a pair of sentences has thousands. Let c be a subsumer (an ancestor of both, where each synset is
its own ancestor), d the number of nodes from the root down to a synset, len the length of the shortest path between two
synsets over a subsumer, and IC information content:

    path   1 / (1 + len)
    wup    max over c of 2 d(c) / (len by c + 2 d(c))                                        Wu and Palmer (1994)
    lch    -ln((1 + len) / 2D), D the nodes of the longest path, over its max. ln 2D         Leacock and Chodorow (1998)
    lin    2 IC(c) / (IC(a) + IC(b)), c the subsumer of greatest IC                          Lin (1998)
    jcn    1 / (1 + IC(a) + IC(b) - 2 IC(c))                                                 Jiang and Conrath (1997)
    resnik IC(c), c the subsumer of greatest IC, divided by the maximum IC of its part of speech
                                                                                             Resnik (1995)

All values are between 0 and 1; for words of one synset they are 1, except for `resnik`. A word that is not in the
database has similarity 0 to any other. Collocations of several tokens (hot dog) and pointers other than hypernyms are
ignored. The database is not included.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Mapping, Sequence
from math import log
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import ConfigError, FloatArray, FormatError, LongArray
from rerank_plugins.kit.kernels import kernel, part
from rerank_plugins.kit.remembered import MEGABYTE, Remembered

REMEMBERED = 16 * MEGABYTE  # of words and what was looked up for them
MEASURES = ("path", "wup", "lch", "lin", "jcn", "resnik")
PARTS = "nvar"  # nouns, verbs, adjectives, adverbs
HIERARCHIES = 2  # nouns and verbs; adjectives and adverbs have none


def wordnet_folder(explicit: Path | None = None) -> Path | None:
    """The folder of the database: the argument, or where WordNet's own tools look: WNSEARCHDIR, then WNHOME/dict.

    None if none of them is set. Raises ConfigError if the folder contains no index.noun, in itself or in its `dict`.
    """
    home, search_folder = os.environ.get("WNHOME"), os.environ.get("WNSEARCHDIR")
    folder = explicit or (Path(search_folder) if search_folder else Path(home) / "dict" if home else None)
    if folder is None:
        return None
    for place in (folder, folder / "dict"):
        if (place / "index.noun").is_file():
            return place
    raise ConfigError(f"{folder}: no WordNet database: wanted data.noun, index.noun and so on")


class WordNet:
    """A WordNet database in memory with its similarity measures. Words are in lower case.

    Raises FormatError for files that NLTK cannot read, ConfigError where it is not installed. The information content
    of the synsets is that of words with these relative `frequencies`.
    """

    def __init__(self, folder: Path, frequencies: Mapping[str, float]) -> None:
        self.reader, self.synsets, hypernyms = _read(folder)
        self.number = {synset: i for i, (_, synset) in enumerate(self.synsets)}
        masses = np.full(len(self.synsets), min(frequencies.values(), default=1.0))
        for word, frequency in frequencies.items():
            if senses := self._found(word):
                np.add.at(masses, senses, frequency / len(senses))
        self.taxonomy = build_taxonomy([p for p, _ in self.synsets], hypernyms, masses)
        self._senses: Remembered[str, LongArray] = Remembered(REMEMBERED)

    def __repr__(self) -> str:
        return f"WordNet of {len(self.synsets):,} synsets"

    def _found(self, word: str) -> list[int]:
        return [self.number[synset] for synset in self.reader.synsets(word, PARTS)]

    def senses(self, word: str) -> LongArray:
        """The synsets of the word and of its base forms, of all parts of speech, sorted."""
        senses = self._senses.get(word)
        if senses is None:
            self._senses.make_room()
            senses = self._senses.keep(word, np.array(sorted(set(self._found(word))), np.int64))
        return senses

    def similarities(self, left: Sequence[str], right: Sequence[str]) -> FloatArray:
        """The (MEASURES, n, m) similarities of n words with m others."""
        return np.asarray(similarities(*self._joined(left), *self._joined(right), *self.taxonomy), np.float64)

    def _joined(self, words: Sequence[str]) -> tuple[LongArray, LongArray]:
        """The (words + 1) positions where the senses of each word begin, and the concatenated senses."""
        senses = [self.senses(word) for word in words]
        return np.cumsum([0, *map(len, senses)], dtype=np.int64), np.concatenate([np.zeros(0, np.int64), *senses])


def _read(folder: Path) -> tuple[Any, list[tuple[int, Any]], list[list[int]]]:
    """NLTK's reader; the synsets, each with its index of PARTS; and the numbers of the hypernyms of each."""
    try:
        import nltk.data
        from nltk.corpus.reader.wordnet import WordNetCorpusReader
    except ImportError:
        raise ConfigError("WordNet is read by NLTK: pip install 'rerank-plugins[wordnet]'") from None

    class Reader(WordNetCorpusReader):  # type: ignore[misc]
        """Reads the database alone: no other languages or versions, and no names of lexicographers' files."""

        def map_wn(self, version: str = "wordnet") -> None:
            """No mapping from other versions of WordNet, which needs NLTK's own data."""

        def open(self, file: str) -> Any:
            """A file of the folder, in memory."""
            names = "".join(f"{number:02d} {number} 0\n" for number in range(100)).encode()
            content = names if file == "lexnames" else (folder / file).read_bytes()
            return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="\n")

    if str(folder.resolve()) not in nltk.data.path:
        nltk.data.path.append(str(folder.resolve()))  # NLTK reads in these folders only
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "No WordNet synset")
            reader = Reader(str(folder.resolve()), ())
            synsets = [(p, synset) for p, part in enumerate(PARTS) for synset in reader.all_synsets(part)]
            for lemma in reader.all_lemma_names():
                reader.synsets(lemma, PARTS)  # an error where the index names a synset that is not there
            number = {synset: i for i, (_, synset) in enumerate(synsets)}
            above = [[number[h] for h in synset.hypernyms() + synset.instance_hypernyms()] for _, synset in synsets]
    except Exception as error:  # NLTK raises errors of many kinds
        raise FormatError(
            f"not a WordNet database that NLTK can read ({type(error).__name__}: {error})", path=str(folder)
        ) from None
    return reader, synsets, above


class Taxonomy(NamedTuple):
    """The hierarchies of all parts of speech as arrays over synsets.

    The `ancestors` of synset s, sorted, and their `distances` are at `places[s] : places[s + 1]`. `depth` (S) is the
    number of nodes on the shortest path from the root to a synset; `deepest` (S) the number of nodes on the longest
    path of its part of speech (20 for the nouns of WordNet 3.0); `information` (S) its information content, ≥ 0; and
    `highest` (S) the maximum information content in its part of speech.
    """

    places: LongArray
    ancestors: LongArray
    distances: LongArray
    depth: LongArray
    deepest: LongArray
    information: FloatArray
    highest: FloatArray


def build_taxonomy(parts: Sequence[int], hypernyms: Sequence[Sequence[int]], masses: FloatArray) -> Taxonomy:
    """Build the hierarchies of synsets with these parts of speech, hypernyms and (S) masses of probability.

    If a part of speech has several topmost synsets (verbs; nouns before WordNet 3), one root is added above them, so
    that any two synsets have a subsumer, as in WordNet::Similarity (Pedersen et al. 2004). It is also above a cycle
    that no path leads out of; WordNet 3.0 has one among its verbs. Information content (Resnik 1995) is IC(c) = -ln
    P(c), where P(c) is the part of c and all synsets below it in the mass of their part of speech.
    """
    parts, above = [*parts], [[*each] for each in hypernyms]
    root: dict[int, int] = {}
    for p in range(HIERARCHIES):
        topmost = [s for s, own in enumerate(parts) if own == p and not above[s]]
        if len(topmost) == 1:
            root[p] = topmost[0]
        elif p in parts:
            root[p] = len(above)
            for synset in topmost:
                above[synset].append(root[p])
            parts.append(p)
            above.append([])
    ways = [_ancestors(synset, above) for synset in range(len(above))]
    for synset, way in enumerate(ways):
        if all(above[a] for a in way) and parts[synset] in root:  # it is in a cycle or below one
            way[root[parts[synset]]] = max(way.values()) + 1
    longest = np.ones(len(ways), np.int64)  # nodes on the longest path down to each synset, without steps in a cycle
    for synset in sorted(range(len(ways)), key=lambda s: len(ways[s])):
        longest[synset] = 1 + max((longest[a] for a in above[synset] if synset not in ways[a]), default=0)
    part_of = np.array(parts, np.int64)
    ancestors = np.array([a for way in ways for a in sorted(way)], np.int64)
    owner = np.repeat(np.arange(len(ways)), [*map(len, ways)])
    mass = np.append(masses, np.zeros(len(ways) - len(masses)))
    total = np.bincount(part_of, mass, len(PARTS))[part_of]
    information = -np.log(np.minimum(np.bincount(ancestors, mass[owner], len(ways)) / total, 1.0))
    return Taxonomy(
        np.cumsum([0, *map(len, ways)], dtype=np.int64),
        ancestors,
        np.array([way[a] for way in ways for a in sorted(way)], np.int64),
        np.array([1 + min((way[a] for a in way if not above[a]), default=0) for way in ways], np.int64),
        np.array([longest[part_of == p].max(initial=1) for p in range(len(PARTS))], np.int64)[part_of],
        information,
        np.array([information[part_of == p].max(initial=0.0) for p in range(len(PARTS))])[part_of],
    )


def _ancestors(synset: int, hypernyms: Sequence[Sequence[int]]) -> dict[int, int]:
    """The ancestors of a synset with their distances (0 for itself), breadth first: the first path is a shortest."""
    distances = {synset: 0}
    queue = [synset]
    for below in queue:
        for above in hypernyms[below]:
            if above not in distances:
                distances[above] = distances[below] + 1
                queue.append(above)
    return distances


@kernel
def similarities(
    left_starts: LongArray, left: LongArray, right_starts: LongArray, right: LongArray, places: NDArray[Any],
    above: NDArray[Any], distances: NDArray[Any], depth: NDArray[Any], deepest: NDArray[Any], information: NDArray[Any],
    highest: NDArray[Any],
) -> Any:  # fmt: skip
    """The (MEASURES, n, m) similarities of words: by each measure, that of their most similar senses.

    Its arguments are the senses of both sides and the columns of the hierarchy.
    """
    n, m = len(left_starts) - 1, len(right_starts) - 1
    values = np.zeros((len(MEASURES), n, m))
    own = np.zeros(len(MEASURES))
    for i in range(n):
        for j in range(m):
            for a in left[left_starts[i] : left_starts[i + 1]]:
                for b in right[right_starts[j] : right_starts[j + 1]]:
                    _of_senses(a, b, places, above, distances, depth, deepest, information, highest, own)
                    for k in range(len(MEASURES)):
                        values[k, i, j] = max(values[k, i, j], own[k])
    return values


@part
def _of_senses(
    a: int, b: int, places: LongArray, above: LongArray, distances: LongArray, depth: LongArray, deepest: LongArray,
    information: FloatArray, highest: FloatArray, values: FloatArray,
) -> None:  # fmt: skip
    """Set `values` (MEASURES) to the similarities of synsets a and b."""
    values[:] = 1.0
    if a == b:
        if highest[a] > 0:
            values[5] = information[a] / highest[a]
        return
    # Merge the sorted ancestors: the shortest path, the greatest `wup` and the greatest IC over all subsumers.
    shortest, wup, most = -1, 0.0, 0.0
    i, j = places[a], places[b]
    while i < places[a + 1] and j < places[b + 1]:
        if above[i] < above[j]:
            i += 1
        elif above[i] > above[j]:
            j += 1
        else:
            length = distances[i] + distances[j]
            if shortest < 0 or length < shortest:
                shortest = length
            wup = max(wup, 2 * depth[above[i]] / (length + 2 * depth[above[i]]))
            most = max(most, information[above[i]])
            i += 1
            j += 1
    # Synsets without a subsumer (of different parts of speech, or of one without a hierarchy) are not similar.
    if shortest < 0:
        values[:] = 0.0
        return
    scale = log(2.0 * deepest[a])
    values[0] = 1 / (1 + shortest)
    values[1] = wup
    values[2] = max(0.0, scale - log(1.0 + shortest)) / scale
    both = information[a] + information[b]
    values[3] = min(1.0, 2 * most / both) if both > 0 else 0.0
    values[4] = 1 / (1 + max(0.0, both - 2 * most))
    values[5] = most / highest[a] if highest[a] > 0 else 0.0
