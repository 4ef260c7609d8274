"""How texts of the same language differ in style, and the text steps after which they do not.

Sub-word pieces, escapes, case, punctuation, tokenisation, numerals and titles (`40` or `forty`, `Dr.` or `doctor`) are
choices of whoever wrote a text. A metric, or a feature that compares words, sees them as other words. Texts without
punctuation are neither tokenised nor not. The number words and titles are English and German.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rerank_adapters.text.diagnostics import looks_like
from rerank_adapters.text.pipeline import TextPipeline

UNDO = {"bpe": "undo-bpe", "sentencepiece": "undo-sentencepiece", "escaped": "unescape"}
CASES = {"lower-case", "upper-case"}
TOKENISATIONS = {"tokenised", "detokenised"}
MAX_TEXTS = 1000  # texts by which the style of all is found
UNPUNCTUATED = "without punctuation"
MARK = re.compile(r"[.,?!;:।。，？！、；：؟،]")
NUMERALS, SPELT = "with numerals", "with numbers in words"
ABBREVIATED, FULL = "with abbreviated titles", "with titles in full"
NUMERAL = re.compile(r"(?<!\S)[$€£(\"'“]*\d[\d.,:]*(?:st|nd|rd|th)?\b")
NUMBER_WORD = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty|seventy|"
    r"eighty|ninety|hundred|thousand|million|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|hundert|tausend|"
    r"\w*(?:und|drei|vier|fünf|zwan|sech|sieb|acht|neun)(?:zig|ßig)|\w+zehn)\b",
    re.IGNORECASE,
)
ABBREVIATED_TITLE = re.compile(r"\b(?:dr|mr|mrs|prof|capt|lt|sgt|hr|fr)\b\.?(?=\s+\w)", re.IGNORECASE)
FULL_TITLE = re.compile(
    r"\b(?:doctor|doktor|mister|missus|missis|professor|captain|lieutenant|sergeant|herr|frau)(?=\s+\w)", re.IGNORECASE
)
FORMS = ((NUMERALS, NUMERAL, SPELT, NUMBER_WORD), (ABBREVIATED, ABBREVIATED_TITLE, FULL, FULL_TITLE))
FEW = 10  # short forms of one side for each of the other, which writes them out
SELDOM, OFTEN = 0.002, 0.02  # marks per word: a text has no punctuation below the one, and has it above the other


def undoing(texts: Sequence[str]) -> tuple[str, ...]:
    """The steps that join the sub-word pieces of the texts and undo their escapes; none where there are neither."""
    kinds = looks_like(texts)
    return tuple(step for kind, step in UNDO.items() if kind in kinds)


def whole_words(texts: Sequence[str]) -> list[str]:
    """The texts after these steps, which a thousand of them show."""
    return TextPipeline(undoing(texts[:MAX_TEXTS])).apply(texts)


def style_of(texts: Sequence[str], other: Sequence[str]) -> frozenset[str]:
    """The style of texts, as far as it may differ from that of other texts: what `looks_like` finds of sub-word pieces,
    escapes, case and tokenisation, `without punctuation` if the other texts have some, and how numbers and titles are
    written if these do so in another way.
    """
    style = looks_like(texts) & {*UNDO, *CASES, *TOKENISATIONS}
    for written, short, other_written, long in FORMS:
        if _differ(texts, other, short, long):
            style |= {written}
        elif _differ(other, texts, short, long):
            style |= {other_written}
    if _marks(texts) < SELDOM and _marks(other) > OFTEN:
        return style - TOKENISATIONS | {UNPUNCTUATED}
    return style


def steps_between(texts: Sequence[str], others: Sequence[str], language: str | None = None) -> tuple[str, ...]:
    """The steps that both need to be of one style; none if they are. The language is that of a tokeniser.

    >>> steps_between(["he is here"] * 9, ["He is here."] * 9)
    ('lowercase', 'no-punctuation')
    """
    if not all(any(text.split() for text in side) for side in (texts, others)):
        return ()  # texts without words have no style
    undo = tuple(step for step in UNDO.values() if step in {*undoing(texts), *undoing(others)})
    if undo and undoing(texts) == undoing(others):
        undo = ()
    left, right = (TextPipeline(undo).apply(side) for side in (texts, others))
    style, other = style_of(left, right), style_of(right, left)
    steps = undo
    if style & CASES != other & CASES and _has_case(left) and _has_case(right):
        steps = (*steps, "lowercase")
    if ABBREVIATED in style | other and language in (None, "en"):
        return (*undo, "whisper")
    if NUMERALS in style | other:
        steps = (*steps, "numbers-to-words" + (f":{language}" if language not in (None, "en") else ""))
    if UNPUNCTUATED in style | other:
        steps = (*steps, "no-punctuation")
    elif style & TOKENISATIONS and other & TOKENISATIONS and style & TOKENISATIONS != other & TOKENISATIONS:
        steps = (*steps, f"tokenize:{language or 'en'}")
    return steps


def _has_case(texts: Sequence[str]) -> bool:
    """Whether a letter of the texts is of one case; Chinese and Arabic ones, and those of empty texts, are not."""
    return any(text.lower() != text.upper() for text in texts)


def steps_towards(texts: Sequence[str], others: Sequence[str], language: str | None = None) -> tuple[str, ...]:
    """The steps that give texts the style of others, as far as steps can, which do not go through them.

    >>> steps_towards(["Er ist hier."] * 9, ["he is here ."] * 9, "de")
    ('lowercase', 'tokenize:de')
    """
    steps = undoing(texts)
    whole = TextPipeline(steps).apply(texts)
    style, other = style_of(whole, others), style_of(others, whole)
    for case, step in (("lower-case", "lowercase"), ("upper-case", "uppercase")):
        if case in other - style and _has_case(whole):
            steps = (*steps, step)
    if UNPUNCTUATED in other:
        return (*steps, "no-punctuation")
    if "detokenised" in style and "tokenised" in other:
        return (*steps, f"tokenize:{language or 'en'}")
    return steps


def _differ(texts: Sequence[str], others: Sequence[str], short: re.Pattern[str], long: re.Pattern[str]) -> bool:
    """Whether texts have short forms, which the others write out: these have few, and more of the long ones."""
    joined, other = " ".join(texts), " ".join(others)
    count = len(short.findall(joined))
    if count < max(1, SELDOM * len(joined.split())) or FEW * len(short.findall(other)) > count:
        return False
    return 2 * (len(long.findall(other)) - len(long.findall(joined))) >= count


def _marks(texts: Sequence[str]) -> float:
    joined = " ".join(texts)
    return len(MARK.findall(joined)) / max(1, len(joined.split()))
