"""The pools of measures that Wu et al. (2013, Table 1) select from, by origin, under their names in this package.

Two of their 47 measures have no counterpart: the second index of explicit semantic analysis (WordNet's glosses) and the
second space of latent semantic analysis (Wikipedia), because only one index and one file of vectors can be loaded. The
other measures are:

    dkpro     Bär et al. (2012): n-grams, strings, Resnik's measure aligned, explicit semantic analysis
    takelab   Šarić et al. (2012): overlaps of words and content words, also by WordNet and by vectors (of the space
              `lsa`), differences in length, numbers, case, stock symbols. Content words are recognised by their
              frequency, where the original uses a list of function words, and lemmas
    mayo      the authors' own: named entities, random indexing, structured vectors
"""

from __future__ import annotations

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
