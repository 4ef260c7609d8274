"""All measures over pairs of sentences, as columns named `family.measure`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from types import ModuleType
from typing import NamedTuple, Protocol

import numpy as np

from rerank_plugins.arrays import FloatArray
from rerank_plugins.models.esa.model import EsaModel
from rerank_plugins.models.random_indexing.model import RandomIndexModel
from rerank_plugins.models.similarity import (
    entities,
    esa,
    ngrams,
    overlap,
    shape,
    strings,
    svs,
    tfidf,
    vectors,
    wordnet,
)  # fmt: skip
from rerank_plugins.models.similarity.text import Lexicon, Text
from rerank_plugins.models.svs.parsing import SvsParser
from rerank_plugins.models.wordnet.model import WordNet

OF_PAIRS: dict[str, ModuleType] = {
    "overlap": overlap, "ngrams": ngrams, "strings": strings, "entities": entities, "shape": shape,
}  # fmt: skip
Tokens = Sequence[str]
Pairs = Sequence[tuple[Text, Text]]


class Recogniser(Protocol):
    """Finds named entities; as text it says what it is."""

    def entities(self, sentences: Sequence[Tokens]) -> list[tuple[str, ...]]:
        """Those of each sentence in lower case, each once."""
        ...


class Family(NamedTuple):
    """Measures that are computed together: what gives the (pairs, names) values of all pairs."""

    names: tuple[str, ...]
    columns: Callable[[Pairs], FloatArray]
    other: tuple[str, ...] = ()  # those that have no greatest value for equal sentences


@dataclass(frozen=True)
class Measures:
    """The measures: those of strings and words, and those for which there are data.

    `vectors`, `wordnet`, `esa` and `svs` give the families of these names; `recogniser` finds the names for `entities`,
    which are known by their capital letters if it is None. The families `tfidf`, `vectors`, `wordnet` and `esa` depend
    on all the pairs given at once.
    """

    vectors: RandomIndexModel | None = None
    lexicon: Lexicon = field(default_factory=Lexicon)
    recogniser: Recogniser | None = None
    wordnet: WordNet | None = None
    esa: EsaModel | None = None
    svs: SvsParser | None = None

    @cached_property
    def families(self) -> dict[str, Family]:
        """By name, those there are."""
        found = {
            name: Family(
                module.NAMES, partial(_pair_by_pair, module=module, lexicon=self.lexicon), getattr(module, "OTHER", ())
            )
            for name, module in OF_PAIRS.items()
        }
        found["tfidf"] = Family(tfidf.NAMES, tfidf.columns)
        if self.vectors is not None:
            found["vectors"] = Family(
                vectors.names(self.vectors), partial(vectors.columns, model=self.vectors, lexicon=self.lexicon)
            )
        if self.wordnet is not None:
            found["wordnet"] = Family(
                wordnet.NAMES,
                partial(wordnet.columns, wordnet=self.wordnet, lexicon=self.lexicon),
                wordnet.OTHER,
            )
        if self.esa is not None:
            found["esa"] = Family(esa.NAMES, partial(esa.columns, model=self.esa))
        if self.svs is not None:
            found["svs"] = Family(svs.NAMES, partial(svs.columns, parser=self.svs))
        return found

    @property
    def data(self) -> dict[str, str]:
        """What families have their values from, in words, of those that a file of a trained system does not hold."""
        parser = self.svs and svs.described(self.svs)
        given = {"entities": self.recogniser, "wordnet": self.wordnet, "esa": self.esa, "svs": parser}
        return {family: str(each) for family, each in given.items() if each is not None}

    @property
    def names(self) -> tuple[str, ...]:
        """Of all columns."""
        return tuple(f"{family}.{name}" for family, found in self.families.items() for name in found.names)

    def columns(self, pairs: Sequence[tuple[Tokens, Tokens]], only: Collection[str] | None = None) -> FloatArray:
        """(pairs, names) finite values; documented 0 where a sentence is empty or none of its words is known.

        Equal sentences that are not empty have 1, the greatest value, in each measure of likeness, also where it finds
        nothing in them to compare: `.` and `.` have no words, and are alike.
        Columns of families that are not among `only`, where it is given, are not computed: 0.
        """
        values = np.zeros((len(pairs), len(self.names)))
        if not pairs:
            return values
        texts, at = self._texts(pairs), 0
        equal = [i for i, (a, b) in enumerate(texts) if a.tokens and a.tokens == b.tokens]
        for name, family in self.families.items():
            if only is None or name in only:
                values[:, at : at + len(family.names)] = family.columns(texts)
                likeness = [at + i for i, each in enumerate(family.names) if each not in family.other]
                values[np.ix_(equal, likeness)] = 1.0
            at += len(family.names)
        return values

    def _texts(self, pairs: Sequence[tuple[Tokens, Tokens]]) -> list[tuple[Text, Text]]:
        distinct = list(dict.fromkeys(tuple(side) for pair in pairs for side in pair))
        names = self.recogniser.entities(distinct) if self.recogniser else [None] * len(distinct)
        text = {tokens: self.lexicon.text(tokens, found) for tokens, found in zip(distinct, names, strict=True)}
        return [(text[tuple(a)], text[tuple(b)]) for a, b in pairs]


def _pair_by_pair(pairs: Pairs, module: ModuleType, lexicon: Lexicon) -> FloatArray:
    return np.array([module.measure(a, b, lexicon) for a, b in pairs], np.float64)
