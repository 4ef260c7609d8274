"""The phrase table: phrase pairs consistent with the alignment, and their four scores (Koehn, Och & Marcu 2003).

phi is the relative frequency of a phrase given the other; lex(f | e, a) = prod_i mean over (i, j) in a of w(f_i | e_j),
with w from the counts of links, the empty word standing in for words without one (their equation 8). Of several
alignments of a pair, the one with the highest product of both weights counts. No smoothing.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set

from decoder.symmetrise import Link

Phrase = tuple[str, ...]
Scores = tuple[float, float, float, float]  # phi(f|e), lex(f|e), phi(e|f), lex(e|f), as Moses orders them
PhraseTable = dict[Phrase, list[tuple[Phrase, Scores]]]
AlignedPair = tuple[Sequence[str], Sequence[str], set[Link]]
MAX_LENGTH = 5


def estimate(corpus: Sequence[AlignedPair], needed: Set[Phrase] | None = None) -> PhraseTable:
    """Phrase pairs of the corpus with their scores, in order of source and target; of needed source phrases, or all."""
    given_target, given_source = lexical_weights(corpus)
    counts: Counter[tuple[Phrase, Phrase]] = Counter()
    of_source, of_target = Counter[Phrase](), Counter[Phrase]()
    lexical: dict[tuple[Phrase, Phrase], tuple[float, float]] = {}
    for source, target, links in corpus:
        for i, i_end, j, j_end in extract(len(source), len(target), links):
            f, e = tuple(source[i:i_end]), tuple(target[j:j_end])
            of_source[f] += 1
            of_target[e] += 1
            if needed is not None and f not in needed:
                continue
            inner = {(a - i, b - j) for a, b in links if i <= a < i_end}
            weights = (_lex(f, e, inner, given_target), _lex(e, f, {(b, a) for a, b in inner}, given_source))
            counts[f, e] += 1
            lexical[f, e] = max(lexical.get((f, e), weights), weights, key=math.prod)
    table: PhraseTable = defaultdict(list)
    for (f, e), count in sorted(counts.items()):
        lex_f, lex_e = lexical[f, e]
        table[f].append((e, (count / of_target[e], lex_f, count / of_source[f], lex_e)))
    return dict(table)


def extract(source_length: int, target_length: int, links: set[Link]) -> Iterator[tuple[int, int, int, int]]:
    """Spans (i, i_end, j, j_end) with at least one link inside and none that leaves on one side only (Och & Ney 2004).

    Unaligned words at the edges of the target side may belong to the phrase or not.
    """
    aligned = {j for _, j in links}
    for i in range(source_length):
        for i_end in range(i + 1, min(i + MAX_LENGTH, source_length) + 1):
            inside = [b for a, b in links if i <= a < i_end]
            if not inside:
                continue
            low, high = min(inside), max(inside) + 1
            if any(low <= b < high and not i <= a < i_end for a, b in links):
                continue
            for j in range(low, -1, -1):
                if j < low and j in aligned:
                    break
                for j_end in range(high, target_length + 1):
                    if j_end > high and j_end - 1 in aligned:
                        break
                    if j_end - j <= MAX_LENGTH:
                        yield i, i_end, j, j_end


def lexical_weights(corpus: Iterable[AlignedPair]) -> tuple[dict[tuple[str, str], float], dict[tuple[str, str], float]]:
    """w(f | e) keyed (f, e) and w(e | f) keyed (e, f), from counts of links; "" is the empty word."""
    joint: Counter[tuple[str, str]] = Counter()
    for source, target, links in corpus:
        joint.update((source[i], target[j]) for i, j in links)
        linked_f, linked_e = {i for i, _ in links}, {j for _, j in links}
        joint.update((f, "") for i, f in enumerate(source) if i not in linked_f)
        joint.update(("", e) for j, e in enumerate(target) if j not in linked_e)
    of_f, of_e = Counter[str](), Counter[str]()
    for (f, e), count in joint.items():
        of_f[f] += count
        of_e[e] += count
    given_e = {(f, e): count / of_e[e] for (f, e), count in joint.items()}
    given_f = {(e, f): count / of_f[f] for (f, e), count in joint.items()}
    return given_e, given_f


def _lex(words: Phrase, given: Phrase, links: set[Link], weights: dict[tuple[str, str], float]) -> float:
    """lex(words | given), for links from words to given."""
    product = 1.0
    for i, word in enumerate(words):
        partners = sorted(given[b] for a, b in links if a == i) or [""]
        product *= math.fsum(weights[word, partner] for partner in partners) / len(partners)
    return product


def phrases_of(sentences: Iterable[Sequence[str]]) -> set[Phrase]:
    """Source phrases that can be needed to translate the sentences: Moses's filtering."""
    return {
        tuple(words[i:j])
        for words in sentences
        for i in range(len(words))
        for j in range(i + 1, min(i + MAX_LENGTH, len(words)) + 1)
    }


def write(table: PhraseTable) -> Iterator[str]:
    """Lines of a Moses phrase table, probabilities with six significant digits."""
    for source, targets in table.items():
        for target, scores in targets:
            numbers = " ".join(f"{score:.6g}" for score in scores)
            yield f"{' '.join(source)} ||| {' '.join(target)} ||| {numbers}\n"


def read(lines: Iterable[str]) -> PhraseTable:
    """The table that `write` wrote."""
    table: PhraseTable = defaultdict(list)
    for line in lines:
        source, target, numbers = line.rstrip("\n").split(" ||| ")
        a, b, c, d = (float(number) for number in numbers.split())
        table[tuple(source.split())].append((tuple(target.split()), (a, b, c, d)))
    return dict(table)
