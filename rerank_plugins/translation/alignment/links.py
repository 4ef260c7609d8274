"""Links of words: those of both directions combined, their form in text, and their error rate.

Of a combination (Och and Ney 2003; Koehn, Och and Marcu 2003), `forward` is each target word with the source word that
generated it and `backward` the other way round. grow-diag-final-and starts with their intersection; adds links of their
union that neighbour an accepted link, also diagonally, as long as their source or their target word has none; and at
last links of either direction, forward ones first, of which both words have none. Links are visited by source word,
then by target word, as in Moses's symal.

The text `0-0 1-1 2?1` (Pharaoh's and Moses's form) has the source word, then the target word, from 0. The alignment
error rate of links A against sure links S and possible links P ⊇ S (Och and Ney 2003), lower is better, is that of all
sentence pairs together:

    precision = |A ∩ P| / |A|        recall = |A ∩ S| / |S|        AER = 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Self, get_args

from rerank_plugins import FormatError, LongArray
from rerank_plugins.kit.files.text import display_name, open_text

if TYPE_CHECKING:
    from rerank_plugins.translation.alignment.model import WordAlignmentModel

Method = Literal["forward", "backward", "intersection", "union", "grow-diag-final-and"]
METHODS: tuple[Method, ...] = get_args(Method)
Links = list[tuple[int, int]]
NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))
LINK = re.compile(r"(\d+)([-?p])(\d+)")


def symmetrised(forward: LongArray, backward: LongArray, method: Method) -> Links:
    """Links (source word, target word) in ascending order.

    `forward` has the source word of each target word, `backward` the target word of each source word, -1 if none.
    """
    of_target = {(source, target) for target, source in enumerate(forward.tolist()) if source >= 0}
    of_source = {(source, target) for source, target in enumerate(backward.tolist()) if target >= 0}
    if method == "forward":
        return sorted(of_target)
    if method == "backward":
        return sorted(of_source)
    if method == "union":
        return sorted(of_target | of_source)
    links = of_target & of_source
    if method == "intersection":
        return sorted(links)
    return sorted(_grown(links, of_target, of_source))


def _grown(
    links: set[tuple[int, int]], forward: set[tuple[int, int]], backward: set[tuple[int, int]]
) -> set[tuple[int, int]]:
    union = forward | backward
    sources, targets = {source for source, _ in links}, {target for _, target in links}

    def add(link: tuple[int, int]) -> None:
        links.add(link)
        sources.add(link[0])
        targets.add(link[1])

    grows = True
    while grows:
        grows = False
        for source, target in sorted(links):
            for down, right in NEIGHBOURS:
                link = source + down, target + right
                if link in union and link not in links and (link[0] not in sources or link[1] not in targets):
                    add(link)
                    grows = True
    for direction in (forward, backward):
        for link in sorted(direction):
            if link[0] not in sources and link[1] not in targets:
                add(link)
    return links


class GoldLinks(NamedTuple):
    """The sure links of a sentence pair, and the possible ones, which include the sure ones."""

    sure: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]]


def links_text(links: Links) -> str:
    """Links as text.

    >>> links_text([(0, 0), (1, 2)])
    '0-0 1-2'
    """
    return " ".join(f"{source}-{target}" for source, target in links)


def parse_gold(text: str) -> GoldLinks:
    """The links of a line: `-` for sure ones, `?` or `p` for possible ones. Raises ValueError for anything else.

    >>> parse_gold("0-0 1?2").sure, sorted(parse_gold("0-0 1?2").possible)
    (frozenset({(0, 0)}), [(0, 0), (1, 2)])
    """
    sure, possible = set(), set()
    for word in text.split():
        match = LINK.fullmatch(word)
        if match is None:
            raise ValueError(f"found {word!r}, expected links such as 0-0 (sure) and 1?2 (possible)")
        link = int(match[1]), int(match[3])
        possible.add(link)
        if match[2] == "-":
            sure.add(link)
    return GoldLinks(frozenset(sure), frozenset(possible))


def read_gold(path: str) -> list[GoldLinks]:
    """The sure (`-`) and possible (`?` or `p`) links of each line. Raises FormatError with the path and the line."""
    with open_text(path) as lines:
        gold = []
        for number, line in enumerate(lines, 1):
            try:
                gold.append(parse_gold(line))
            except ValueError as error:
                raise FormatError(str(error), path=display_name(path), line=number) from None
        return gold


class AlignmentErrors(NamedTuple):
    """|A|, |S|, |A ∩ S| and |A ∩ P| of sentence pairs; they add up."""

    links: int = 0
    sure: int = 0
    right_sure: int = 0
    right_possible: int = 0

    def plus(self, links: Links, gold: GoldLinks) -> Self:
        """The numbers with those of another sentence pair."""
        unique = set(links)
        return self.__class__(
            self.links + len(unique),
            self.sure + len(gold.sure),
            self.right_sure + len(unique & gold.sure),
            self.right_possible + len(unique & gold.possible),
        )

    @property
    def precision(self) -> float:
        """The proportion of the links that are possible, 1 without links."""
        return self.right_possible / self.links if self.links else 1.0

    @property
    def recall(self) -> float:
        """The proportion of the sure links that were found, 1 without sure links."""
        return self.right_sure / self.sure if self.sure else 1.0

    @property
    def error_rate(self) -> float:
        """AER, 0 without any links."""
        number = self.links + self.sure
        return 1.0 - (self.right_sure + self.right_possible) / number if number else 0.0

    def __str__(self) -> str:
        return f"AER {self.error_rate:.4f}, precision {self.precision:.4f}, recall {self.recall:.4f}"


def alignment_errors(
    model: WordAlignmentModel, pairs: Iterable[tuple[Sequence[str], Sequence[str]]], gold: Sequence[GoldLinks]
) -> dict[Method, AlignmentErrors]:
    """The errors of a model's links by each method of symmetrisation; a pair for each element of `gold`."""
    errors = dict.fromkeys(METHODS, AlignmentErrors())
    for (source, target), right in zip(pairs, gold, strict=True):
        aligned = model.align(source, [target], ln_p=False) if source and target else None
        for method in METHODS:
            links = symmetrised(aligned.forward, aligned.backward[0], method) if aligned else []
            errors[method] = errors[method].plus(links, right)
    return errors
