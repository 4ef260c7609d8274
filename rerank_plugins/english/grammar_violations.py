"""The feature `grammar-violations`: violations of rules of English grammar in the dependency tree of a hypothesis.

Each rule has a column of its own, minus the number of violations (rules/violations.py); `fillers`, `frames`, `animacy`
and `bare_nouns` are Σ ln p of gaps, verb frames, arguments and bare nouns, by counts of parsed text. Only clear
violations count. A hypothesis without a tree has 0 everywhere, as an empty one has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from rerank_plugins import FloatArray, Parser, PickledFields, Sentence, SentenceFeature, option
from rerank_plugins.kit.files.languages import embedded


@dataclass(frozen=True)
class GrammarViolationsFeature(SentenceFeature, PickledFields):
    """Violated rules of English grammar, counted in the dependency tree, and ln p of gaps and verb frames."""

    parser: Parser | None = option(None, doc="a parser, by name; default: the embedded English one")

    @property
    def components(self) -> tuple[str, ...]:
        """A component for each rule."""
        from rerank_plugins.english.rules.violations import VALUES

        return VALUES

    @property
    def resources(self) -> tuple[Path, ...]:
        """The embedded lexicon."""
        return (embedded("grammar-lexicon.tsv.xz"),)

    @cached_property
    def _parser(self) -> Parser:
        from rerank_plugins.dependency.parsers import EnglishParser
        from rerank_plugins.kit.files.cached_parser import parser_of_model

        return parser_of_model(None, self.parser, EnglishParser(), constituents=False)

    @property
    def parsers(self) -> tuple[Parser, ...]:
        """The parser of the trees."""
        return (self._parser,)

    def values(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n, 19) minus the numbers of violations, then natural logs; 0 or less."""
        from rerank_plugins.english.english_lexicon import english
        from rerank_plugins.english.rules.violations import grammar_values

        lexicon, values = english(), np.zeros((len(sentences), len(self.components)))
        for row, parse in enumerate(self._parser.parse(sentences)):
            if parse.dependencies is not None:
                values[row] = grammar_values(parse.dependencies, lexicon)
        return values
