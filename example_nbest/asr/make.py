"""Makes the lists of this folder again, the same bytes each time: `python example_nbest/asr/make.py [FOLDER]`.

The sentences of ../mt/tune.en and ../mt/test.en are spoken into a noisy channel. A word may be heard as a word of the
vocabulary that sounds alike, a short word may be lost, and one may be heard where there was none. What
sounds alike is a table of homophones, and words whose codes (`sound`) differ by one sound. Each reading of a position
has an acoustic score, ln p of the confusion and noise, so that a wrong reading is sometimes better than the right one.
The list holds the readings of the whole sentence with the highest sums, found exactly, best first.
"""

from __future__ import annotations

import heapq
import json
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from random import Random

HERE = Path(__file__).parent
TEXTS = HERE.parent / "mt"
SEED, N = 15, 10
NOISE = 0.75  # standard deviation of the noise of the acoustic score of a word, in nats
HOMOPHONE, SIMILAR, LOST, HEARD = -0.7, -2.2, -2.6, -5.0  # ln p, before the noise
MOST_READINGS = 4  # readings of a word by similarity
SHORT = frozenset(
    ("a", "an", "the", "to", "of", "in", "on", "at", "is", "was", "has", "had", "he", "she", "it", "we", "and", "that")
)
EXTRA = ("a", "the", "and", "to")
HOMOPHONES = (
    "to too two", "there their they're", "for four", "by buy", "see sea", "hear here", "right write", "know no",
    "new knew", "our hour", "son sun", "would wood", "whole hole", "week weak", "meet meat", "read red", "one won",
    "its it's", "where wear", "your you're", "through threw", "eight ate", "piece peace", "wait weight", "way weigh",
    "be bee", "are our", "in inn", "an and", "then than", "of off", "his is", "were where", "a the", "has as",
)  # fmt: skip
SOUNDS = (
    ("^kn", "n"), ("^wr", "r"), ("^wh", "w"), ("gh", ""), ("ph", "f"), ("ck", "k"), ("sh|tion", "S"), ("th", "T"),
    ("ch", "C"), ("c(?=[eiy])", "s"), ("c", "k"), ("q", "k"), ("x", "ks"), ("e$", ""), ("[aeiouy]+", "a"),
    (r"(.)\1+", r"\1"),
)  # fmt: skip


@cache
def sound(word: str) -> str:
    """A rough code of how an English word sounds: all vowels are one sound, doubled letters are single."""
    for pattern, replacement in SOUNDS:
        word = re.sub(pattern, replacement, word)
    return word


def one_apart(first: str, second: str) -> bool:
    """Whether two codes are equal, or become so by one insertion, deletion or substitution."""
    if abs(len(first) - len(second)) > 1 or min(len(first), len(second)) < 2:
        return False
    start = 0
    while start < min(len(first), len(second)) and first[start] == second[start]:
        start += 1
    rests = (
        (first[start + 1 :], second[start + 1 :]),
        (first[start + 1 :], second[start:]),
        (first[start:], second[start + 1 :]),
    )
    return any(one == other for one, other in rests)


def spoken(line: str) -> list[str]:
    """The words of a sentence in lower case without punctuation, clitics joined to their words."""
    line = re.sub(r" (n't|'(?:s|m|d|ll|re|ve))\b", r"\1", line.lower())
    return re.sub(r"[^\w\s']|(?<!\w)'|'(?!\w)", " ", line).split()


class Channel:
    """The noisy channel over the words of a vocabulary."""

    def __init__(self, vocabulary: Iterable[str], random: Random) -> None:
        self.words, self.random = sorted(vocabulary), random
        self.codes = [(word, sound(word)) for word in self.words]
        self.alike: dict[str, list[str]] = {}
        for group in HOMOPHONES:
            for word in group.split():
                others = [other for other in group.split() if other != word]
                self.alike.setdefault(word, []).extend(others)

    def similar(self, word: str) -> list[str]:
        """The words whose codes differ by at most one sound."""
        code = sound(word)
        return [other for other, other_code in self.codes if other != word and one_apart(code, other_code)]

    def readings(self, word: str) -> list[tuple[float, tuple[str, ...]]]:
        """What may be heard for a word, with acoustic scores, best first."""
        close = self.alike.get(word, [])
        far = [other for other in self.similar(word) if other not in close]
        far = self.random.sample(far, min(MOST_READINGS, len(far)))
        heard: list[tuple[float, tuple[str, ...]]] = [(0.0, (word,))]
        heard += [(HOMOPHONE, (other,)) for other in close] + [(SIMILAR, (other,)) for other in far]
        if word in SHORT:
            heard.append((LOST, ()))
        heard.append((HEARD, (self.random.choice(EXTRA), word)))
        return sorted(((score + self.random.gauss(0, NOISE), words) for score, words in heard), reverse=True)

    def best(self, words: list[str], n: int) -> list[tuple[float, str]]:
        """The n distinct texts of the highest score (ln, summed over the words), best first."""
        readings = [self.readings(word) for word in words]
        texts: dict[str, float] = {}
        first = (0,) * len(words)
        queue, seen = [(-sum(options[0][0] for options in readings), first)], {first}
        while queue and len(texts) < n:
            cost, choice = heapq.heappop(queue)
            text = " ".join(w for options, i in zip(readings, choice, strict=True) for w in options[i][1])
            texts.setdefault(text, -cost)
            for place, options in enumerate(readings):
                i = choice[place]
                following = (*choice[:place], i + 1, *choice[place + 1 :])
                if i + 1 < len(options) and following not in seen:
                    seen.add(following)
                    heapq.heappush(queue, (cost + options[i][0] - options[i + 1][0], following))
        return [(score, text) for text, score in texts.items()]


def lists(lines: Iterable[str], name: str, channel: Channel) -> Iterator[str]:
    """A JSON line for each sentence: its list, the scores and the transcript."""
    for number, line in enumerate(lines):
        words = spoken(line)
        heard = channel.best(words, N)
        record = {
            "segment": f"{name}-{number:03}",
            "hyps": [text for _, text in heard],
            "scores": [round(score, 3) for score, _ in heard],
            "ref": " ".join(words),
        }
        yield json.dumps(record) + "\n"


def main(folder: Path) -> None:
    """Write tune.jsonl and test.jsonl to the folder."""
    vocabulary = {word for line in (TEXTS / "train.en").read_text("utf-8").splitlines() for word in spoken(line)}
    for seed, name in enumerate(("tune", "test"), SEED):
        lines = (TEXTS / f"{name}.en").read_text("utf-8").splitlines()
        made = "".join(lists(lines, name, Channel(vocabulary, Random(seed))))
        (folder / f"{name}.jsonl").write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
