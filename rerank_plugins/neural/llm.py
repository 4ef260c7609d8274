"""The language model `llm`: ln p of given text by a large language model behind a server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import ClassVar

from rerank_plugins import option
from rerank_plugins.neural.given_text import FLAGS, PATHS, Form, GivenText, given_texts, requests
from rerank_plugins.neural.given_text_checks import check_given
from rerank_plugins.neural.prompted import END, PROMPT, PromptedLanguageModel
from rerank_plugins.neural.server import Server, check_url


@dataclass(frozen=True)
class ServerLanguageModel(PromptedLanguageModel):
    """Ln p of the words of a hypothesis by a server of a large language model (vLLM, llama-cpp-python, TGI).

    An empty hypothesis has the score of its end alone. The server is checked when it is first asked.
    """

    one_process: ClassVar[bool] = True

    model: str = option(doc="name of the model, as the server knows it; values are kept under this name")
    url: str = option(
        "http://localhost:8000/v1", doc="address of the server, up to /completions or /generate", changes_results=False
    )
    form: Form = option("completions", doc="how the server is asked for ln p of given text", changes_results=False)
    prompt: str = option("\\n", doc=PROMPT)
    end: str = option("\\n", doc=END)
    key_variable: str = option(
        "RERANK_LLM_KEY", doc="environment variable that holds the server's key", changes_results=False
    )
    at_once: int = option(8, doc="requests that are sent at the same time", within="[1, ]", changes_results=False)
    batch: int = option(8, doc="texts of a request, where the form has several", within="[1, ]", changes_results=False)
    timeout: float = option(300.0, doc="seconds to wait for an answer", within="(0, ]", changes_results=False)
    retries: int = option(
        5, doc="repetitions of a request that a busy or broken server has not answered", within="[0, ]",
        changes_results=False,
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_url(self.url)
        if not self.prompt:
            raise ValueError("prompt: wanted some text, since servers have no ln p of the first token of all")

    @property
    def where(self) -> str:
        """The address."""
        return self.url

    def given(self, texts: Sequence[str]) -> list[GivenText]:
        """The tokens of texts with their ln p. Raises ModelError for a server that fails or would lie."""
        return self._given(self._server, texts)

    @cached_property
    def _server(self) -> Server:
        """The server, which has been checked."""
        server = Server(self.url, self.key_variable, self.timeout, self.retries, self.at_once)
        check_given(self.url, FLAGS[self.form], lambda texts: self._given(server, texts))
        return server

    def _given(self, server: Server, texts: Sequence[str]) -> list[GivenText]:
        asked = requests(self.form, self.model, texts, self.batch)
        answers = server.post_all(PATHS[self.form], asked)
        size = 1 if self.form == "tgi" else self.batch
        parts = (texts[at : at + size] for at in range(0, len(texts), size))
        found = (given_texts(self.form, self.url, *pair) for pair in zip(answers, parts, strict=True))
        return list(chain.from_iterable(found))
