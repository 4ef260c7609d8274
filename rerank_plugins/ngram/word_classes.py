"""Word classes: closed-class words are their own classes, other words have their most frequent tag in a treebank.

An n-gram model of classes sees `these NNS` and `the NN VBZ` where a model of words sees rare words. The class is a
function of the word alone: no text has to be tagged, and good and bad sentences are treated alike. Words that do not
occur in the treebank become signatures (kit/vocabulary/signatures.py). Words that stay are lower-cased, with brackets
in their normal form (core/brackets_and_quotes.py). The tags are those of the Penn Treebank.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import Field

from rerank_plugins import FormatError, Trained, Trainer, TrainingData, normal_form, option, read_trees
from rerank_plugins.core.brackets_and_quotes import spellings
from rerank_plugins.core.words import model_words, split_words
from rerank_plugins.kit.files.text import display_name, open_atomic, open_text
from rerank_plugins.kit.remembered import MEGABYTE, Remembered
from rerank_plugins.kit.vocabulary.signatures import signature

REMEMBERED = 16 * MEGABYTE  # of words and what was looked up for them
SEEN = 2  # occurrences in the treebank that a word needs to have a class
CLOSED = """
DT IN PRP PRP$ MD TO CC WDT WP WP$ WRB EX PDT RP POS . , : -LRB- -RRB- `` ''
"""
STAY = """
be is are am was were been being have has had having do does did done 's 're 'm 've 'd 'll n't not never ever any
only even also all
"""  # closed-class words whose tags open classes have too
Tagged = Sequence[tuple[str, str]]  # words with their tags


@dataclass(frozen=True)
class WordClasses:
    """Maps words to classes; a word that `classes` lacks has the class of its lower-case form, or a signature."""

    classes: Mapping[str, str]
    _cache: Remembered[str, str] = field(default_factory=lambda: Remembered(REMEMBERED), repr=False, compare=False)

    @classmethod
    def of_treebank(cls, tagged: Iterable[Tagged], words: Iterable[str] = ()) -> WordClasses:
        """Build the classes from tagged sentences.

        Words whose most frequent tag is in CLOSED are their own classes, and so are STAY and `words`.
        """
        tags: defaultdict[str, Counter[str]] = defaultdict(Counter)
        folded: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for sentence in tagged:
            for written, tag in sentence:
                word = normal_form(written)
                tags[word][tag] += 1
                if word != word.lower():
                    folded[word.lower()][tag] += 1
        for word in folded.keys() - tags.keys():  # words that only occur with capitals
            tags[word] = folded[word]
        best = {word: most_frequent(counts) for word, counts in tags.items() if counts.total() >= SEEN}
        kept = {normal_form(word).lower() for word in (*STAY.split(), *words)}
        kept |= {word.lower() for word, tag in best.items() if tag in CLOSED.split()}
        open_class = {word: tag for word, tag in best.items() if word.lower() not in kept}
        return cls(open_class | {word: word for word in kept})

    def of(self, word: str) -> str:
        """The class of a word."""
        word_class = self._cache.get(word)
        if word_class is None:
            forms = [form for spelling in spellings(word) for form in (spelling, spelling.lower())]
            word_class = next((self.classes[form] for form in forms if form in self.classes), None)
            self._cache.make_room()
            word_class = self._cache.keep(word, word_class or signature(normal_form(word), False, False))
        return word_class

    def apply(self, text: str) -> str:
        """The classes of the words of a text.

        >>> WordClasses({"the": "the", "cats": "NNS"}).apply("The cats meowing")
        'the NNS UNK-LC-ing'
        """
        return " ".join(map(self.of, model_words(text)))

    def lines(self) -> Iterator[str]:
        """The lines of a file of classes: word<TAB>class, sorted."""
        yield from (f"{word}\t{name}\n" for word, name in sorted(self.classes.items()))


def most_frequent(counts: Mapping[str, int]) -> str:
    """The tag with the highest count; of tags with equal counts, the first in alphabetical order."""
    return min(counts, key=lambda tag: (-counts[tag], tag))


def read_classes(lines: Iterable[str], path: str) -> WordClasses:
    """Read a file of classes: each line has a word and its class, separated by a tab or spaces (as Brown clusters may).

    Raises FormatError with the path and the line.
    """
    classes: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        cells = line.split()
        if not cells:
            continue
        if len(cells) != 2:
            raise FormatError(f"{len(cells)} fields, wanted a word and its class", path=path, line=number)
        if classes.setdefault(cells[0], cells[1]) != cells[1]:
            raise FormatError(f"{cells[0]!r} has another class already: {classes[cells[0]]}", path=path, line=number)
    if not classes:
        raise FormatError("there are no classes: wanted lines of word<TAB>class", path=path)
    return WordClasses(classes)


CONLLU, WORD, TAG = ".conllu", 1, 4  # columns of CoNLL-U, from 0: form and XPOS


@dataclass
class WordClassesTrainer(Trainer):
    """Assign each word to the class of its most frequent tag in FILEs.

    A FILE is a treebank in CoNLL-U with XPOS tags or of bracketed trees. English closed-class words (Penn Treebank tags
    DT, IN, PRP …) remain as they are; a word that does not occur in the treebanks is replaced by a signature of its
    form (UNK-LC-ing). The text step `classes:FILE` replaces words by their classes.

    \b
    rerank train word-classes train.conllu.xz -o classes.tsv
    rerank tools text classes:classes.tsv < news.txt > news.classes
    rerank train ngram news.classes -o classes.ngram
    """  # noqa: D301

    reads = "files"
    to_stdout = True

    text: tuple[Path, ...] = option(
        (), metavar="FILE", doc="Keep the most frequent words of this tokenised text as they are. Repeatable."
    )
    max_words: Annotated[int, Field(ge=1)] = option(200, doc="How many of the most frequent words to keep.")

    def train(self, data: TrainingData) -> Trained:
        """The `WordClasses` of the tags of treebanks. Raises FormatError."""
        frequent = frequent_words(self.text, self.max_words)
        tagged = (sentence for path in data.examples() for sentence in tagged_sentences(path))
        classes = WordClasses.of_treebank(tagged, frequent)
        line = f"{len(classes.classes):,} words in {len(set(classes.classes.values())):,} classes"
        return Trained(lambda path: _write(classes, path), [line], what="the classes")


def _write(classes: WordClasses, path: Path) -> None:
    with open_atomic(path) as out:
        out.writelines(classes.lines())


def frequent_words(texts: Sequence[str | Path], number: int) -> list[str]:
    """The most frequent words of tokenised texts, in lower case; ties are in alphabetical order."""
    counts: Counter[str] = Counter()
    for path in texts:
        with open_text(path) as lines:
            for line in lines:
                counts.update(split_words(line.lower()))
    return sorted(counts, key=lambda word: (-counts[word], word))[:number]


def tagged_sentences(path: Path) -> Iterator[Tagged]:
    """Words with tags: the XPOS of CoNLL-U, where the name of the file ends so, else the preterminals of trees.

    Raises FormatError, with path and line.
    """
    with open_text(path) as lines:
        if CONLLU in path.suffixes:
            for number, line in enumerate(lines, 1):
                columns = line.split("\t")
                if line.strip() and not line.startswith("#") and columns[0].isdecimal():
                    if len(columns) <= TAG:
                        message = f"{len(columns)} columns, wanted 10 of CoNLL-U"
                        raise FormatError(message, path=display_name(path), line=number)
                    yield [(columns[WORD], columns[TAG])]
        else:
            for tree in read_trees(lines, display_name(path)):
                yield list(zip(tree.words(), tree.tags(), strict=True))
