"""Words replaced by classes: closed-class words stay, others become the tag that they mostly have in a treebank.

An n-gram model of classes sees `these NNS` and `the NN VBZ` where one of words sees rare names. A class is a function
of the word alone: nothing has to be tagged, and a sentence and a worse one are treated alike. Words that the treebank
does not have become signatures (signatures.py). Words that stay are in lower case, brackets in their normal form
(trees/penn.py). Tags are those of the Penn Treebank.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rerank_plugins.errors import FormatError
from rerank_plugins.models.vocabulary.signatures import signature
from rerank_plugins.trees.penn import normal_form, spellings

SEEN = 2  # occurrences that a word needs for a class of its own
CLOSED = """
DT IN PRP PRP$ MD TO CC WDT WP WP$ WRB EX PDT RP POS . , : -LRB- -RRB- `` ''
"""
STAY = """
be is are am was were been being have has had having do does did done 's 're 'm 've 'd 'll n't not never ever any
only even also all
"""  # closed-class words whose tags are those of open classes
Tagged = Sequence[tuple[str, str]]  # words with tags


@dataclass(frozen=True)
class WordClasses:
    """The class of each word of `classes`; others have that of their lower-case form, or a signature."""

    classes: Mapping[str, str]
    _cache: dict[str, str] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of_treebank(cls, tagged: Iterable[Tagged], words: Iterable[str] = ()) -> WordClasses:
        """From tagged sentences; `words` stay besides those whose most frequent tag is CLOSED, and STAY."""
        tags: defaultdict[str, Counter[str]] = defaultdict(Counter)
        folded: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for sentence in tagged:
            for written, tag in sentence:
                word = normal_form(written)
                tags[word][tag] += 1
                if word != word.lower():
                    folded[word.lower()][tag] += 1
        for word in folded.keys() - tags.keys():  # only ever seen with capitals
            tags[word] = folded[word]
        best = {word: most_frequent(counts) for word, counts in tags.items() if counts.total() >= SEEN}
        kept = {normal_form(word).lower() for word in (*STAY.split(), *words)}
        kept |= {word.lower() for word, tag in best.items() if tag in CLOSED.split()}
        open_class = {word: tag for word, tag in best.items() if word.lower() not in kept}
        return cls(open_class | {word: word for word in kept})

    def of(self, word: str) -> str:
        """The class of a word."""
        found = self._cache.get(word)
        if found is None:
            forms = [form for each in spellings(word) for form in (each, each.lower())]
            found = next((self.classes[form] for form in forms if form in self.classes), None)
            found = self._cache[word] = found or signature(normal_form(word), False, False)
        return found

    def apply(self, text: str) -> str:
        """The classes of the words of a text.

        >>> WordClasses({"the": "the", "cats": "NNS"}).apply("The cats meowing")
        'the NNS UNK-LC-ing'
        """
        return " ".join(map(self.of, text.split()))

    def lines(self) -> Iterator[str]:
        """A file of classes: word<TAB>class, sorted."""
        yield from (f"{word}\t{name}\n" for word, name in sorted(self.classes.items()))


def most_frequent(counts: Mapping[str, int]) -> str:
    """The tag of highest count; of equal ones the first by the alphabet."""
    return min(counts, key=lambda tag: (-counts[tag], tag))


def read_classes(lines: Iterable[str], path: str) -> WordClasses:
    """The classes of a file: a word and its class a line, tab or spaces between (Brown clusters may be given so).

    Raises FormatError with path and line.
    """
    classes: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        cells = line.split()
        if not cells:
            continue
        if len(cells) != 2:
            raise FormatError(f"{len(cells)} fields, wanted a word and its class", path=path, line=number)
        if classes.setdefault(cells[0], cells[1]) != cells[1]:
            raise FormatError(f"{cells[0]!r} has a class already: {classes[cells[0]]}", path=path, line=number)
    if not classes:
        raise FormatError("no classes: wanted lines of word<TAB>class", path=path)
    return WordClasses(classes)
