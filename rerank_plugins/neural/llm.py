"""The language model `llm`: ln p of hypotheses after a prompt, by a large language model behind a server.

The text that is scored is the prompt, the hypothesis and its end, and the value is ln p(hypothesis and end | prompt).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from rerank_plugins import ConfigError, FloatArray, LanguageModel, ModelError, NBestList, PickledFields, option
from rerank_plugins.neural.completions_server import ADVICE, CompletionsServer, check_url
from rerank_plugins.neural.given_text import GivenText, check_given
from rerank_plugins.neural.pieces import of_distinct, owners_of, word_sums

SOURCE = "{source}"


@dataclass(frozen=True)
class ServerLanguageModel(PickledFields, LanguageModel):
    """Ln p of the words of a hypothesis by a server of a large language model that speaks the completions protocol.

    An empty hypothesis has the score of its end alone. The server is checked when it is first asked.
    """

    one_process: ClassVar[bool] = True

    model: str = option(doc="name of the model, as the server knows it; values are kept under this name")
    url: str = option(
        "http://localhost:8000/v1", doc="address of the server, up to /completions", changes_results=False
    )
    prompt: str = option(
        "\\n", doc="text before the hypothesis; {source} stands for the source sentence, and \\n for the end of a line"
    )
    end: str = option("\\n", doc="text after the hypothesis, whose ln p is that of `</s>`; without it, that is 0")
    key_variable: str = option(
        "RERANK_LLM_KEY", doc="environment variable that holds the server's key", changes_results=False
    )
    at_once: Annotated[int, Field(ge=1)] = option(
        8, doc="requests that are sent at the same time", changes_results=False
    )
    batch: Annotated[int, Field(ge=1)] = option(8, doc="texts of a request", changes_results=False)
    timeout: Annotated[float, Field(gt=0)] = option(300.0, doc="seconds to wait for an answer", changes_results=False)
    retries: Annotated[int, Field(ge=0)] = option(
        5, doc="repetitions of a request that a busy or broken server has not answered",
        changes_results=False,
    )  # fmt: skip

    def __post_init__(self) -> None:
        """Raise ConfigError for an address that is none or has a key, ValueError for an empty prompt."""
        check_url(self.url)
        if not self.prompt:
            raise ValueError("prompt: wanted some text, since servers have no ln p of the first token of all")

    @property
    def components(self) -> tuple[str, ...]:
        """`total`, and `per_word`, which is total / (|e| + 1)."""
        return ("total", "per_word")

    def __contains__(self, word: str) -> bool:
        """Every word is known: the pieces of the vocabulary spell any text."""
        return True

    @property
    def vocabulary(self) -> None:
        """None: there are no unknown words."""
        return

    def score(self, sentences: Sequence[Sequence[str]]) -> list[FloatArray]:
        """Ln p of each word, and of the end last. Raises ConfigError for a prompt with a source, ModelError."""
        if SOURCE in self.prompt:
            raise ConfigError(f"the prompt has {SOURCE}: only hypotheses of lists with sources have a score")
        return of_distinct([("", tuple(words)) for words in sentences], self._scores)

    def values(self, sentences: Sequence[Sequence[str]]) -> FloatArray:
        """(n, 2) natural logs, and natural logs per word and end."""
        return _values(self.score(sentences))

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, 2) natural logs. Raises ConfigError for a list without the source that the prompt wants, ModelError."""
        return self.extract_all([nbest])[0]

    def extract_all(self, nbests: Sequence[NBestList]) -> list[FloatArray]:
        """(n, 2) natural logs of each list; all are scored together."""
        values = _values(of_distinct([pair for nbest in nbests for pair in self._pairs(nbest)], self._scores))
        return np.split(values, np.cumsum([len(nbest) for nbest in nbests])[:-1]) if nbests else []

    def word_scores(self, nbest: NBestList) -> list[FloatArray]:
        """Ln p of the words of each hypothesis, and of its end."""
        return of_distinct(self._pairs(nbest), self._scores)

    def _pairs(self, nbest: NBestList) -> list[tuple[str, tuple[str, ...]]]:
        """The source, where the prompt has it, and the words of each hypothesis."""
        if SOURCE in self.prompt and len(nbest) and nbest.source is None:
            raise ConfigError(f"{self.url}: segment {nbest.segment_id} has no source sentence: name a source file")
        source = " ".join((nbest.source or "").split()) if SOURCE in self.prompt else ""
        return [(source, tuple(text.split())) for text in nbest.texts]

    def _scores(self, pairs: Sequence[tuple[str, tuple[str, ...]]]) -> list[FloatArray]:
        """(words + 1) ln p of the words and the end of each pair of a source and a hypothesis."""
        if not pairs:
            return []
        prompt, end = (text.replace("\\n", "\n") for text in (self.prompt, self.end))
        prompts = [prompt.replace(SOURCE, source) for source, _ in pairs]
        texts = [before + " ".join(words) + end for before, (_, words) in zip(prompts, pairs, strict=True)]
        return [
            self._of_words(found, words, len(before))
            for found, (_, words), before in zip(self._server.given_texts(texts), pairs, prompts, strict=True)
        ]

    def _of_words(self, found: GivenText, words: Sequence[str], start: int) -> FloatArray:
        """(words + 1) the sums over the tokens that end in each word, whose first one begins at `start`."""
        owners = owners_of(words)
        places, scores = list[int](), list[float]()
        for end, value in zip(found.ends, found.ln_p, strict=True):
            if end > start:
                if math.isnan(value):
                    raise ModelError(f"{self.url}: there is no ln p for some tokens of a text: set 'prompt'")
                last = end - start - 1  # character
                places.append(owners[last] if last < len(owners) else len(words))
                scores.append(value)
        return word_sums(np.array(scores, np.float64), places, len(words))

    @cached_property
    def _server(self) -> CompletionsServer:
        """The server, which has been checked."""
        server = CompletionsServer(
            self.url, self.model, self.key_variable, self.at_once, self.batch, self.timeout, self.retries
        )
        check_given(self.url, ADVICE, server.given_texts)
        return server


def _values(scores: Sequence[FloatArray]) -> FloatArray:
    """(n, 2) the sum of the scores of each sentence, and their mean."""
    totals = np.array([values.sum() for values in scores], np.float64)
    return np.column_stack([totals, totals / np.array([len(values) for values in scores], np.float64)])
