"""`parse`: the trees of texts, which print themselves and become the lines of a treebank."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import tee
from pathlib import Path
from typing import Any, Literal, TypeAlias, overload

from rerank_adapters.applications.parsing.parses import ParseCounts, parse_in_order
from rerank_adapters.data.given_texts import Text, Words, blocks_of, pipeline_of, texts_of
from rerank_adapters.features.processes import Processes
from rerank_adapters.job.models import load
from rerank_adapters.rows import Rows
from rerank_plugins import ConfigError, Parse, ScoredTree, Tree
from rerank_plugins.core.dependency_tree import DependencyTree, write_conllu
from rerank_plugins.kit.files.cached_parser import CachedParser
from rerank_plugins.kit.trees.k_best_file import write_scored

TEXTS_OF_BLOCK = 100  # texts that are tokenised at a time
Kind: TypeAlias = Literal["conllu", "brackets"]
KINDS: dict[str, str] = {"conllu": "dependencies", "brackets": "constituents"}


@dataclass(frozen=True, repr=False)
class ParsedText:
    """A text with its parse. It prints as the tree that the parser gave: in CoNLL-U if there are dependencies.

    `name`     the number of the text from 1, or the segment and the rank of a hypothesis
    `unknown`  the words that the parser does not know
    `scored`   whether all constituency trees are written, with their ln p, or the best one alone
    """

    name: str
    words: Words
    parse: Parse
    unknown: Words = ()
    scored: bool = False

    @property
    def tree(self) -> Tree | None:
        """The best constituency tree; None without one."""
        return self.parse.tree

    @property
    def k_best(self) -> Sequence[ScoredTree]:
        """All constituency trees with their ln p, the best one first."""
        return self.parse.constituents

    @property
    def dependencies(self) -> DependencyTree | None:
        """The dependencies; None without any."""
        return self.parse.dependencies

    def to_conllu(self) -> str:
        """The block of a CoNLL-U file with its comments; empty without a parse.

        Raises ConfigError for a parse that has constituents only.
        """
        self.check("conllu")
        if self.dependencies is None:
            return ""
        comments = {"sent_id": self.name, "text": " ".join(self.words)}
        if self.unknown:
            comments["unknown_words"] = " ".join(self.unknown)
        return write_conllu(self.dependencies, comments)

    def to_brackets(self) -> str:
        """The line of the best constituency tree, empty without a parse.

        Where trees are `scored`, a line for each of them, `id ||| brackets ||| ln p`. Raises ConfigError for a parse
        that has dependencies only.
        """
        self.check("brackets")
        if self.scored:
            return "".join(write_scored(self.name, *scored) for scored in self.parse.constituents)
        return f"{self.tree}\n" if self.tree else "\n"

    def check(self, kind: Kind) -> None:
        """Raise ConfigError where the parse has another kind of structure alone."""
        has_kind = self.dependencies is not None if kind == "conllu" else bool(self.parse.constituents)
        if not has_kind and not self.parse.is_empty:
            other = "brackets" if kind == "conllu" else "conllu"
            raise ConfigError(f"the parser produces no {KINDS[kind]}: --as {other} writes what it produces")

    def __str__(self) -> str:
        if self.parse.is_empty:
            return f"(no parse of: {' '.join(self.words)})"
        of_brackets = self.scored or self.dependencies is None
        return (self.to_brackets() if of_brackets else self.to_conllu()).rstrip("\n")

    __repr__ = __str__


class Trees(Sequence[ParsedText]):
    """The trees of some texts, in order. `trees[0]` is that of the first, and `print(trees)` prints all of them."""

    def __init__(self, trees: Iterable[ParsedText]) -> None:
        self._trees = list(trees)

    def __len__(self) -> int:
        return len(self._trees)

    @overload
    def __getitem__(self, place: int) -> ParsedText: ...
    @overload
    def __getitem__(self, place: slice) -> Trees: ...
    def __getitem__(self, place: int | slice) -> ParsedText | Trees:
        return Trees(self._trees[place]) if isinstance(place, slice) else self._trees[place]

    def to_conllu(self) -> str:
        """The file of `rerank trees parse --as conllu`. Raises ConfigError where there are no dependencies."""
        return "".join(written(self, "conllu"))

    def to_brackets(self) -> str:
        """The file of `rerank trees parse --as brackets`, or `--k-best`. Raises ConfigError for dependencies only."""
        return "".join(written(self, "brackets"))

    @property
    def rows(self) -> Rows:
        """A row for each word: `text`, `position`, `word`, `tag`, `head` (a position; 0 for the root), `relation`.

        Texts and positions count from 1. The head and the relation are None without dependencies, the tag too without
        a parse.
        """
        return Rows(["text", "position", "word", "tag", "head", "relation"], self._words())

    def to_pandas(self) -> Any:
        """The `rows` as a pandas.DataFrame."""
        return self.rows.to_pandas()

    def to_polars(self) -> Any:
        """The `rows` as a polars.DataFrame."""
        return self.rows.to_polars()

    def to_csv(self, path: str | Path) -> None:
        """Write the `rows` to a file, as `Rows.to_csv` does."""
        self.rows.to_csv(path)

    def _words(self) -> Iterator[tuple[Any, ...]]:
        for number, parsed in enumerate(self._trees, 1):
            none: list[Any] = [None] * len(parsed.words)
            tags, heads, relations = none, none, none
            if parsed.dependencies is not None:
                tags = list(parsed.dependencies.tags) or none
                heads, relations = [h + 1 for h in parsed.dependencies.heads], list(parsed.dependencies.relations)
            elif parsed.tree is not None:
                tags = list(parsed.tree.tags())
            for position, row in enumerate(zip(parsed.words, tags, heads, relations, strict=True), 1):
                yield number, position, *row

    def __repr__(self) -> str:
        return "\n\n".join(map(str, self._trees))


def parse(
    texts: Iterable[Text] | Path,
    parser: Any = "english",
    *,
    k_best: bool = False,
    text: str | Sequence[str] = "penn-tokenize",
    jobs: int = 2,
) -> Trees:
    """The trees of texts, each of which prints itself; parses are kept in the cache that the commands use.

    `texts`   texts, which go through the text steps of `text`; sequences of words, which are taken as they are; or a
              Path: a file with one text per line
    `parser`  a parser by name ("pcfg", "biaffine,model=german.biaffine"), by the file of its model, or an object
    `k_best`  print and write all constituency trees of the parser ("pcfg,k=10"), with their ln p
    `jobs`    the number of processes

    A tree has `.words`, `.tree` (constituents), `.dependencies`, `.to_brackets()` and `.to_conllu()`, and so has the
    sequence of all of them `.to_brackets()` and `.to_conllu()`, which are the files that `rerank trees parse` writes.
    Its `.rows` are the words with their tags and heads.

    Raises TypeError for a text in the place of several, and ConfigError for `k_best` of a parser of dependencies only.

    >>> trees = parse(["She sings a song."])
    >>> trees.rows
    text  position  word   tag    head  relation
       1         1  She    PRON      2  nsubj
       1         2  sings  VERB      0  root
       1         3  a      DET       4  det
       1         4  song   NOUN      2  obj
       1         5  .      PUNCT     2  punct
    >>> trees[0].to_conllu().splitlines()[:2]
    ['# sent_id = 1', '# text = She sings a song .']
    """
    steps, checked = pipeline_of(text), texts_of(texts)
    sentences = (words for block in blocks_of(checked, steps, TEXTS_OF_BLOCK) for words in block)
    named = ((str(number), words) for number, words in enumerate(sentences, 1))
    loaded = load(parser, "parser")
    cached = loaded if isinstance(loaded, CachedParser) else CachedParser(loaded)
    trees = Trees(parsed_texts(cached, named, Processes(jobs), ParseCounts(), scored=k_best))
    if k_best:
        for tree in trees:
            tree.check("brackets")
    return trees


def parsed_texts(
    parser: CachedParser,
    named: Iterable[tuple[str, Words]],
    processes: Processes,
    counts: ParseCounts,
    *,
    scored: bool = False,
) -> Iterator[ParsedText]:
    """Yield each text (name, words) with its parse, in order and in bounded memory, and count it.

    A text without words is no sentence, and has an empty parse.
    """
    names, sentences = tee(named)
    parses = parse_in_order(parser, (words for _, words in sentences if words), processes, counts)
    for name, words in names:
        parse = next(parses)[1] if words else Parse()
        unknown = () if parser.vocabulary is None else tuple(word for word in words if word not in parser.vocabulary)
        counts.unknown += len(unknown)
        yield ParsedText(name, words, parse, unknown, scored)


def written(trees: Iterable[ParsedText], kind: Kind | None = None) -> Iterator[str]:
    """The lines of a file of the trees: CoNLL-U without the texts that have no parse, or a line of brackets per text.

    With None, the first text that has a parse decides which kind it is. Raises ConfigError for a kind of tree that the
    parser does not produce.
    """
    empty = 0  # number of texts without a parse before the first one that has one
    for parsed in trees:
        if kind is None:
            if parsed.parse.is_empty:
                empty += 1
                continue
            kind = "conllu" if parsed.dependencies is not None else "brackets"
            yield "\n" * empty if kind == "brackets" else ""
        yield parsed.to_conllu() if kind == "conllu" else parsed.to_brackets()
