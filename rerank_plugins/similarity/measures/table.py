"""All measures over pairs of sentences, as columns named `family.measure`, and the pools of them in the paper.

Wu et al. (2013, Table 1) select from `dkpro` (Bär et al. 2012), `takelab` (Šarić et al. 2012) and `mayo` (their own).
Two of their 47 measures have no counterpart: a second index of explicit semantic analysis and a second space of LSA.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from rerank_plugins import FloatArray
from rerank_plugins.core.sentences import check_sentences
from rerank_plugins.similarity.esa_model import EsaModel
from rerank_plugins.similarity.measures import data_measures as by_data
from rerank_plugins.similarity.measures import pair_measures as of_pair
from rerank_plugins.similarity.measures import strings, tfidf
from rerank_plugins.similarity.measures.sentence_parts import Lexicon, Text
from rerank_plugins.similarity.random_indexing import RandomIndexModel
from rerank_plugins.similarity.sentence_meanings import SentenceMeanings
from rerank_plugins.similarity.wordnet import WordNet
from rerank_plugins.svs.parsing import SvsParser

DKPRO = (
    *(f"ngrams.{name}" for name in (
        "containment_1_content", "containment_2_content", "jaccard_1", "jaccard_2_content", "jaccard_3", "jaccard_4",
        "jaccard_4_content", "characters_2", "characters_3", "characters_4",
    )),
    *(f"strings.{name}" for name in ("tiling", "subsequence", "subsequence_of_shorter", "substring")),
    "wordnet.resnik", "esa.cosine",
)  # fmt: skip
TAKELAB = (
    *(f"overlap.{name}" for name in (
        "unigram", "bigram", "trigram", "content_unigram", "content_bigram", "content_trigram", "weighted",
    )),
    *(f"shape.{name}" for name in (
        "length", "information", "size", "numbers_size", "numbers_overlap", "numbers_subset", "case", "stocks_size",
        "stocks_overlap",
    )),
    "wordnet.augmented", "wordnet.greedy_lemmas", "vectors.lsa_none", "vectors.lsa_information",
)  # fmt: skip
MAYO = (
    *(f"entities.{name}" for name in ("overlap", "aligned_subsequence", "aligned_tiling")),
    *(f"vectors.{space}_none" for space in ("document", "window", "directional", "positional")),
    "svs.top", "svs.phrase",
)  # fmt: skip
POOLS = {"dkpro": DKPRO, "takelab": TAKELAB, "mayo": MAYO}
PAPER = (*DKPRO, *TAKELAB, *MAYO)


Measure = Callable[[Text, Text, Lexicon], tuple[float, ...]]
OF_PAIRS: dict[str, tuple[tuple[str, ...], Measure, tuple[str, ...]]] = {
    "overlap": (of_pair.OVERLAP, of_pair.overlap, ()),
    "ngrams": (of_pair.NGRAMS, of_pair.ngrams, ()),
    "strings": (strings.NAMES, strings.measure, ()),
    "entities": (of_pair.ENTITIES, of_pair.entities, of_pair.ENTITIES_OTHER),
    "shape": (of_pair.SHAPE, of_pair.shape, of_pair.SHAPE_OTHER),
}
Tokens = Sequence[str]
Pairs = Sequence[tuple[Text, Text]]


UNBOUNDED = frozenset(
    (
        *(f"{family}.{name}" for family, (_, _, names) in OF_PAIRS.items() for name in names),
        *(f"wordnet.{name}" for name in by_data.WORDNET_OTHER),
    )
)  # measures without a fixed maximum for equal sentences


class Family(NamedTuple):
    """Measures that are computed together; `columns` returns their (pairs, names) values for all pairs."""

    names: tuple[str, ...]
    columns: Callable[[Pairs], FloatArray]
    other: tuple[str, ...] = ()  # measures without a fixed maximum for equal sentences


@dataclass(frozen=True)
class Measures:
    """The available measures: those of strings and words always, the others where their data are loaded.

    `vectors`, `wordnet`, `esa` and `svs` provide the families of the same names, and `meanings` one more measure of
    `svs`. The values of the families `tfidf`, `vectors`, `wordnet` and `esa`, and that of `svs.meaning`, depend on all
    the pairs of one call.
    """

    vectors: RandomIndexModel | None = None
    lexicon: Lexicon = field(default_factory=Lexicon)
    wordnet: WordNet | None = None
    esa: EsaModel | None = None
    svs: SvsParser | None = None
    meanings: SentenceMeanings | None = None

    @cached_property
    def families(self) -> dict[str, Family]:
        """The available families by name."""
        lexicon = self.lexicon
        families = {
            name: Family(names, partial(_pair_by_pair, measure=measure, lexicon=lexicon), other)
            for name, (names, measure, other) in OF_PAIRS.items()
        }
        families["tfidf"] = Family(tfidf.NAMES, tfidf.columns)
        if self.vectors is not None:
            columns = partial(by_data.vector_columns, model=self.vectors, lexicon=lexicon)
            families["vectors"] = Family(by_data.vector_names(self.vectors), columns)
        if self.wordnet is not None:
            columns = partial(by_data.wordnet_columns, wordnet=self.wordnet, lexicon=lexicon)
            families["wordnet"] = Family(by_data.WORDNET, columns, by_data.WORDNET_OTHER)
        if self.esa is not None:
            families["esa"] = Family(by_data.ESA, partial(by_data.esa_columns, model=self.esa))
        if names := by_data.svs_names(self.svs, self.meanings):
            columns = partial(by_data.svs_columns, parser=self.svs, sentences=self.meanings)
            families["svs"] = Family(names, columns)
        return families

    @property
    def data(self) -> dict[str, str]:
        """Descriptions, by family, of the data that the file of a trained system does not contain."""
        structured = by_data.described(self.svs, self.meanings)
        sources = {"wordnet": self.wordnet, "esa": self.esa, "svs": structured}
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
        for pair in pairs:
            check_sentences(pair)
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
        distinct = dict.fromkeys(tuple(side) for pair in pairs for side in pair)
        text = {tokens: self.lexicon.text(tokens) for tokens in distinct}
        return [(text[tuple(a)], text[tuple(b)]) for a, b in pairs]


def _pair_by_pair(pairs: Pairs, measure: Measure, lexicon: Lexicon) -> FloatArray:
    return np.array([measure(a, b, lexicon) for a, b in pairs], np.float64)
