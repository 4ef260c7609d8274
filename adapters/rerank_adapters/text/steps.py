"""The steps of text pipelines: functions from text to text, by name."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rerank_adapters.text import transcripts
from rerank_adapters.text.penn_tokens import penn_tokenize, penn_unescape
from rerank_plugins import ConfigError
from rerank_plugins.core.errors import suggestion
from rerank_plugins.core.words import split_words, straight_apostrophes

Step = Callable[[str], str]

# Moses's escapes in the order in which they are undone, `&amp;` last (scripts/tokenizer/deescape-special-chars.perl)
ESCAPES = (
    *(("&bar;", "|"), ("&#124;", "|"), ("&lt;", "<"), ("&gt;", ">"), ("&bra;", "["), ("&ket;", "]")),
    *(("&quot;", '"'), ("&apos;", "'"), ("&#91;", "["), ("&#93;", "]"), ("&amp;", "&")),
)
BETWEEN_SIDES = "|||"
CASES = ("lowercase", "uppercase")
DOTLESS = ("tr", "az")  # languages whose i has a dot in capitals, too, and which have an i without one
SIDES = {"source": 0, "target": -1}  # positions in a line of both sides


@dataclass(frozen=True)
class StepKind:
    """A kind of step, written `name` or `name:argument`.

    `make`        builds the step from its argument
    `argument`    describes the text after the colon, "" where no argument is allowed
    `default`     the argument where none is written; without a default it is required, unless it is `optional`
    `takes_file`  whether the argument is a file
    `package`     the distribution whose version belongs in signatures
    """

    name: str
    make: Callable[[str], Step]
    argument: str = ""
    default: str = ""
    takes_file: bool = False
    package: str = ""
    optional: bool = False

    def describe(self, argument: str) -> str:
        """The step with all that its result depends on: the argument, the file's checksum, the package version."""
        if self.takes_file:
            return f"{self.name}:sha256-{_digest(argument)}"
        full = f"{self.name}:{argument}" if argument else self.name
        if not self.package:
            return full
        try:
            return f"{full}({self.package}-{version(self.package)})"
        except PackageNotFoundError:
            self.make(argument)  # raises an error that names the package to install
            return full


def undo_bpe(text: str) -> str:
    """Join the pieces of subword-nmt: `Straßen@@ bahn` -> `Straßenbahn`."""
    return text.replace("@@ ", "").removesuffix("@@")


def undo_sentencepiece(text: str) -> str:
    """Join the pieces of SentencePiece: `▁Straßen bahn` -> `Straßenbahn`; a text without any is left as it is."""
    return text.replace(" ", "").replace("▁", " ").strip() if "▁" in text else text


def unescape(text: str) -> str:
    """Undo the escapes of Moses's tokeniser: `&apos;s` -> `'s`."""
    if "&" in text:
        for escaped, character in ESCAPES:
            text = text.replace(escaped, character)
    return text


def reverse(text: str) -> str:
    """The words in reverse order, for models that read from right to left."""
    return " ".join(reversed(split_words(text)))


def _lowercase(language: str) -> Step:
    """Lower case; in Turkish and Azerbaijani, that of I is ı and that of İ is i."""
    if language not in DOTLESS:
        return str.lower
    return lambda text: text.replace("I", "ı").replace("İ", "i").lower()


def _uppercase(language: str) -> Step:
    """Upper case; in Turkish and Azerbaijani, that of i is İ."""
    return str.upper if language not in DOTLESS else lambda text: text.replace("i", "İ").upper()


def in_language(step: str, language: str) -> str:
    """The step as a config of a language means it: `lowercase` and `uppercase` depend on it where it has a dotless i.

    >>> in_language("lowercase", "tr"), in_language("lowercase", "de"), in_language("unescape", "tr")
    ('lowercase:tr', 'lowercase', 'unescape')
    """
    return f"{step}:{language}" if step in CASES and language in DOTLESS else step


def _side(side: str) -> Step:
    """One side of a line `source ||| target`; a line without the separator is that side itself."""
    if side not in SIDES:
        raise ConfigError(f"text step 'side:{side}': wanted side:source or side:target")
    return lambda text: text.split(BETWEEN_SIDES)[SIDES[side]].strip()


def _without_argument(function: Step) -> Callable[[str], Step]:
    return lambda argument: function


def _tokenize(language: str) -> Step:
    from sacremoses import MosesTokenizer

    tokenizer = MosesTokenizer(language)
    return lambda text: str(tokenizer.tokenize(straight_apostrophes(text), return_str=True, escape=False))


def _detokenize(language: str) -> Step:
    from sacremoses import MosesDetokenizer

    detokenizer = MosesDetokenizer(language)
    return lambda text: str(detokenizer.detokenize(text.split()))


def _truecase(path: str) -> Step:
    from sacremoses import MosesTruecaser

    try:
        truecaser = MosesTruecaser(path)
    except OSError as error:
        raise ConfigError(f"text step 'truecase': {path}: cannot be read ({error.strerror})") from None
    except ValueError as error:
        raise ConfigError(f"text step 'truecase': {path}: not a Moses truecasing model ({error})") from None
    return partial(truecaser.truecase, return_str=True, use_known=True)


def _classes(path: str) -> Step:
    from rerank_plugins.ngram.word_classes import read_classes

    try:
        with open(path, encoding="utf-8") as lines:
            return read_classes(lines, path).apply
    except OSError as error:
        raise ConfigError(f"text step 'classes': {path}: cannot be read ({error.strerror})") from None


def _restore_sentence(_: str) -> Step:
    from rerank_adapters.text.restored_sentences import restore_sentence  # with a table of word frequencies

    return restore_sentence


def _normalize(form: str) -> Step:
    if form not in ("NFC", "NFD", "NFKC", "NFKD"):
        raise ConfigError(f"text step 'normalize-unicode:{form}': wanted NFC, NFD, NFKC or NFKD")
    return partial(unicodedata.normalize, form)  # type: ignore[arg-type]


KINDS = {
    kind.name: kind
    for kind in (
        StepKind("side", _side, "source or target", default="target"),
        StepKind("reverse", _without_argument(reverse)),
        StepKind("undo-bpe", _without_argument(undo_bpe)),
        StepKind("undo-sentencepiece", _without_argument(undo_sentencepiece)),
        StepKind("unescape", _without_argument(unescape)),
        StepKind("penn-tokenize", _without_argument(penn_tokenize)),
        StepKind("penn-unescape", _without_argument(penn_unescape)),
        StepKind("tokenize", _tokenize, "a language code (tokenize:en)", package="sacremoses"),
        StepKind("detokenize", _detokenize, "a language code (detokenize:en)", package="sacremoses"),
        StepKind("lowercase", _lowercase, "a language code (lowercase:tr)", optional=True),
        StepKind("uppercase", _uppercase, "a language code (uppercase:tr)", optional=True),
        StepKind("truecase", _truecase, "a model file (truecase:truecase-model.en)", takes_file=True),
        StepKind("classes", _classes, "a file of classes (classes:classes.tsv)", takes_file=True),
        StepKind("no-punctuation", transcripts.no_punctuation, "the characters kept within words", default="'"),
        StepKind("expand-contractions", _without_argument(transcripts.expand_contractions)),
        StepKind("no-fillers", transcripts.no_fillers, "the fillers (no-fillers:uh,um)", default=transcripts.FILLERS),
        StepKind("characters", _without_argument(transcripts.characters)),
        StepKind("restore-sentence", _restore_sentence),
        StepKind("no-unknown", _without_argument(transcripts.no_unknown)),
        StepKind("no-noise", _without_argument(transcripts.no_noise)),
        StepKind(
            "numbers-to-words", transcripts.numbers_to_words, "a language code", default="en", package="num2words"
        ),
        StepKind("whisper", transcripts.whisper, "en or basic", default="en", package="whisper-normalizer"),
        StepKind("normalize-unicode", _normalize, "a normal form (NFC, NFKC)", default="NFC"),
    )
}


def is_step(step: str) -> bool:
    """Whether a text begins with the name of a step."""
    return step.partition(":")[0] in KINDS


def find_step(step: str) -> tuple[StepKind, str]:
    """The kind and the argument of a step. Raises ConfigError for an unknown step or a wrong use of its argument."""
    name, _, argument = step.partition(":")
    if name not in KINDS:
        raise ConfigError(f"unknown text step {name!r}{suggestion(name, KINDS)}")
    kind = KINDS[name]
    if argument and not kind.argument:
        raise ConfigError(f"text step {name!r} takes no argument, found {argument!r}")
    if kind.argument and not (argument or kind.default or kind.optional):
        raise ConfigError(f"text step {name!r} needs {kind.argument}")
    return kind, argument or kind.default


def _digest(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:12]
    except OSError as error:
        raise ConfigError(f"text step: {path}: cannot be read ({error.strerror})") from None
