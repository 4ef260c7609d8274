"""Layers that programs lay over the words of a hypothesis, and which are no words of it.

    thinking   <think>The user wants German.</think> Hallo Welt       reasoning models, before their answer
    times      <|0.00|> so it is<|1.20|>, [00:00:00.000 --> 00:00:01.200] so it is       Whisper and its relatives
    phrases    so |0-0| it is |1-2|                              Moses with -report-segmentation, behind each phrase

They are left out of the text, and a line says of how many hypotheses. A hypothesis that ends before its thinking does
has no answer: it is empty. Where the prompt has opened the thinking, only its end is there.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Sequence

NAMES = "think|thinking|thought|thoughts|reasoning|reflection|analysis|scratchpad"
ENDS = re.compile(
    rf"\s*(?:</(?:[a-z]+:)?(?:{NAMES})>|\[/THINK\]|<\|end_of_thought\|>|◁/think▷|<\|channel\|>final<\|message\|>)\s*",
    re.IGNORECASE,
)
BEGINS = re.compile(
    rf"\s*(?:<(?:[a-z]+:)?(?:{NAMES})>|\[THINK\]|<\|begin_of_thought\|>|◁think▷|<\|channel\|>analysis<\|message\|>)",
    re.IGNORECASE,
)
TIME = r"(?:\d+:)?\d\d:\d\d[.,]\d{2,3}"
TIMES = re.compile(rf"\s*(?:(?:<\|\d+\.\d\d\|>|\[?{TIME} --> {TIME}\]?)\s*)+")
PHRASES = re.compile(r"\s*\|\d+-\d+(?:,[^|]*)?\|(?=\s|$)")
SIGNS = ("<", "-->", "THINK]", "◁", "|")  # one of which every layer has

logger = logging.getLogger(__name__)


class Layers:
    """Takes the layers off the texts of a file, and counts the texts that had some."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def taken_off(self, texts: Sequence[str]) -> Sequence[str]:
        """The texts without their layers; the texts themselves where they have none, which is found out fast."""
        whole = "\n".join(texts)
        if not any(sign in whole for sign in SIGNS):
            return texts
        return [self._words(text) for text in texts]

    def log(self, path: str) -> None:
        """Say how many hypotheses of a file had layers."""
        for layer, count in self._counts.items():
            if count:
                of = "1 hypothesis" if count == 1 else f"{count:,} hypotheses"
                logger.info("rerank: %s: %s left out of %s", path, layer, of)

    def _words(self, text: str) -> str:
        answer = ENDS.split(text)[-1]
        answer = BEGINS.split(answer)[0].strip() if BEGINS.search(answer) else answer
        words = TIMES.sub(" ", answer).strip() if TIMES.search(answer) else answer
        self._counts["the thinking before the answer is"] += answer != text
        self._counts["times are"] += words != answer
        return self.without_phrases(words)

    def without_phrases(self, text: str) -> str:
        """The text without Moses's marks of phrases."""
        words = PHRASES.sub("", text) if "|" in text else text
        self._counts["Moses's marks of phrases are"] += words != text
        return words
