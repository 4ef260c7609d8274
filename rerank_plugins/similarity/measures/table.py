"""All measures over pairs of sentences, as columns named `family.measure`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from types import ModuleType
from typing import NamedTuple, Protocol

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.similarity.esa.model import EsaModel
from rerank_plugins.similarity.measures import (
    document_measures as esa,
)
from rerank_plugins.similarity.measures import (
    entities,
    ngrams,
    overlap,
    shape,
    strings,
    tfidf,
)
from rerank_plugins.similarity.measures import (
    structured_measures as svs,
)
from rerank_plugins.similarity.measures import (
    vector_measures as vectors,
)
from rerank_plugins.similarity.measures import (
    wordnet_measures as wordnet,
)
from rerank_plugins.similarity.measures.sentence_parts import Lexicon, Text
from rerank_plugins.similarity.random_indexing.model import RandomIndexModel
from rerank_plugins.similarity.wordnet import WordNet
from rerank_plugins.svs.parsing import SvsParser

OF_PAIRS: dict[str, ModuleType] = {
    "overlap": overlap, "ngrams": ngrams, "strings": strings, "entities": entities, "shape": shape,
}  # fmt: skip
Tokens = Sequence[str]
Pairs = Sequence[tuple[Text, Text]]


class Recogniser(Protocol):
    """A named-entity recogniser; its `str` describes it in reports."""

    def entities(self, sentences: Sequence[Tokens]) -> list[tuple[str, ...]]:
        """The entities of each sentence in lower case, each listed once."""
        ...


class Family(NamedTuple):
    """Measures that are computed together; `columns` returns their (pairs, names) values for all pairs."""

    names: tuple[str, ...]
    columns: Callable[[Pairs], FloatArray]
    other: tuple[str, ...] = ()  # measures without a fixed maximum for equal sentences


@dataclass(frozen=True)
class Measures:
    """The available measures: those of strings and words always, the others where their data are loaded.

    `vectors`, `wordnet`, `esa` and `svs` provide the families of the same names; `recogniser` finds the named entities
    of the family `entities`, which are recognised by their capital letters if it is None. The values of the families
    `tfidf`, `vectors`, `wordnet` and `esa` depend on all the pairs of one call.
    """

    vectors: RandomIndexModel | None = None
    lexicon: Lexicon = field(default_factory=Lexicon)
    recogniser: Recogniser | None = None
    wordnet: WordNet | None = None
    esa: EsaModel | None = None
    svs: SvsParser | None = None

    @cached_property
    def families(self) -> dict[str, Family]:
        """The available families by name."""
        families = {
            name: Family(
                module.NAMES, partial(_pair_by_pair, module=module, lexicon=self.lexicon), getattr(module, "OTHER", ())
            )
            for name, module in OF_PAIRS.items()
        }
        families["tfidf"] = Family(tfidf.NAMES, tfidf.columns)
        if self.vectors is not None:
            families["vectors"] = Family(
                vectors.names(self.vectors), partial(vectors.columns, model=self.vectors, lexicon=self.lexicon)
            )
        if self.wordnet is not None:
            families["wordnet"] = Family(
                wordnet.NAMES,
                partial(wordnet.columns, wordnet=self.wordnet, lexicon=self.lexicon),
                wordnet.OTHER,
            )
        if self.esa is not None:
            families["esa"] = Family(esa.NAMES, partial(esa.columns, model=self.esa))
        if self.svs is not None:
            families["svs"] = Family(svs.NAMES, partial(svs.columns, parser=self.svs))
        return families

    @property
    def data(self) -> dict[str, str]:
        """Descriptions, by family, of the data that the file of a trained system does not contain."""
        parser = self.svs and svs.described(self.svs)
        sources = {"entities": self.recogniser, "wordnet": self.wordnet, "esa": self.esa, "svs": parser}
        return {family: str(source) for family, source in sources.items() if source is not None}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns, `family.measure`."""
        return tuple(f"{name}.{measure}" for name, family in self.families.items() for measure in family.names)

    def columns(self, pairs: Sequence[tuple[Tokens, Tokens]], only: Collection[str] | None = None) -> FloatArray:
        """Compute all measures: (pairs, names) finite values, 0 if a sentence is empty or has no known word.

        Equal sentences that are not empty have the maximum 1 in each measure of similarity, even if the measure finds
        nothing in them to compare: `.` and `.` contain no words, but are equal.
        If `only` is given, the columns of families that are not in it are not computed and stay 0.
        """
        values = np.zeros((len(pairs), len(self.names)))
        if not pairs:
            return values
        texts, first = self._texts(pairs), 0
        equal = [i for i, (a, b) in enumerate(texts) if a.tokens and a.tokens == b.tokens]
        for name, family in self.families.items():
            if only is None or name in only:
                values[:, first : first + len(family.names)] = family.columns(texts)
                bounded = [first + i for i, measure in enumerate(family.names) if measure not in family.other]
                values[np.ix_(equal, bounded)] = 1.0
            first += len(family.names)
        return values

    def _texts(self, pairs: Sequence[tuple[Tokens, Tokens]]) -> list[tuple[Text, Text]]:
        distinct = list(dict.fromkeys(tuple(side) for pair in pairs for side in pair))
        entities_of = self.recogniser.entities(distinct) if self.recogniser else [None] * len(distinct)
        text = {tokens: self.lexicon.text(tokens, names) for tokens, names in zip(distinct, entities_of, strict=True)}
        return [(text[tuple(a)], text[tuple(b)]) for a, b in pairs]


def _pair_by_pair(pairs: Pairs, module: ModuleType, lexicon: Lexicon) -> FloatArray:
    return np.array([module.measure(a, b, lexicon) for a, b in pairs], np.float64)
