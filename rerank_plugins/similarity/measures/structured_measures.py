"""Similarity by the structured vectors of sentences (Wu et al. 2013, equations 6 and 7); 0 for an unparsed sentence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.similarity.measures.sentence_parts import Text
from rerank_plugins.similarity.structured_vectors import pair_by_pair, parsed_vectors
from rerank_plugins.svs.parsing import SvsParser

NAMES = ("top", "phrase")
LONGEST = 80  # words: a longer sentence is not parsed
THRESHOLD = 1e-3  # the pruning threshold of the parser


def columns(pairs: Sequence[tuple[Text, Text]], parser: SvsParser) -> FloatArray:
    """Compute the measures of NAMES for all pairs: a (pairs, names) array of values from 0 to 1."""
    sides = [[pair[side].tokens for pair in pairs] for side in (0, 1)]
    sides = [[tokens if len(tokens) <= LONGEST else () for tokens in side] for side in sides]
    vectors = parsed_vectors(parser, [*sides[0], *sides[1]])
    return np.column_stack(pair_by_pair(vectors[: len(pairs)], vectors[len(pairs) :]))


def described(parser: SvsParser) -> str:
    """A description of the parser's model for messages and reports."""
    return f"structured vectors of {len(parser.model.symbols):,} symbols and {parser.model.concepts} concepts"
