r"""The bodies of requests (lists in JSON or in an n-best format, within limits) and of answers.

    {"lists": [{"id": "7", "source": "so ist es", "hypotheses": [{"text": "so it is", "features": {"LM0": -4}}, …]}, …]}
    {"hypotheses": ["so it is", "so is it"], "source": "so ist es"}              one list
    {"format": "moses", "nbest": "0 ||| so it is ||| LM0= -4\n…", "sources": ["so ist es"]}

A body that is not JSON is text in a format. A format is one of the registered names, without options, and nothing else
of a request chooses code or files.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Discriminator, Field, FiniteFloat, Tag, ValidationError

from rerank_adapters.formats.guessing import LINES as FIRST
from rerank_adapters.formats.guessing import guess
from rerank_adapters.formats.one_line import one_line
from rerank_adapters.formats.writing import is_written
from rerank_plugins import ConfigError, FormatError, Hypothesis, NBestFormat, NBestList

if TYPE_CHECKING:
    from rerank_adapters.chain.reranker import Reranked, Reranker

LINES = "<stdin>"  # the path of a text that is no file, beside which no format looks for others
KINDS = ("text", "object")  # of hypotheses
OUTPUTS = ("json", "lines", "nbest")


@dataclass(frozen=True)
class Limits:
    """The limits of a server.

    `body`        bytes of a request's body
    `lists`       lists of a request
    `hypotheses`  hypotheses of a list
    `words`       words of a hypothesis, a source sentence or a context
    `characters`  characters of the same
    `seconds`     time of a request, from its first byte to its answer; its body must arrive within the same time
    `waiting`     requests that wait for a process
    `connections` connections at a time
    """

    body: int = 4_000_000
    lists: int = 100
    hypotheses: int = 1_000
    words: int = 200
    characters: int = 4_000
    seconds: float = 30.0
    waiting: int = 64
    connections: int = 512

    def checked(self, nbests: Iterable[NBestList]) -> Iterator[NBestList]:
        """Yield the lists while they keep to the limits. Raises FormatError at the first one that does not."""
        for number, nbest in enumerate(nbests, 1):
            where = f"segment {nbest.segment_id}"
            if number > self.lists:
                raise FormatError(f"the request has more than {self.lists} lists, the most that this server takes")
            if len(nbest) > self.hypotheses:
                raise FormatError(f"{where} has {len(nbest)} hypotheses; this server takes at most {self.hypotheses}")
            for text in (*nbest.texts, nbest.source or "", nbest.context or ""):
                if len(text) > self.characters:
                    found = f"a text of {len(text)} characters"
                    raise FormatError(f"{where} has {found}; this server takes at most {self.characters}")
                if (words := len(text.split())) > self.words:
                    raise FormatError(f"{where} has a text of {words} words; this server takes at most {self.words}")
            yield nbest


class Request(NamedTuple):
    """A request: its body, whether that is JSON, and the values of `format` ("" if there is none) and `output`."""

    body: bytes
    is_json: bool
    format: str = ""
    output: str = "json"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Hypothesis(_Strict):
    text: str
    score: FiniteFloat | None = None
    features: dict[str, FiniteFloat] = Field(default_factory=dict)
    links: str | None = None


def _kind(hypothesis: object) -> str:
    return "text" if isinstance(hypothesis, str) else "object"


# With a tag for each kind, what is wrong with an object is said of the object, and not that it is no text.
_TextOrObject = Annotated[Annotated[str, Tag("text")] | Annotated[_Hypothesis, Tag("object")], Discriminator(_kind)]


class _List(_Strict):
    hypotheses: list[_TextOrObject] = Field(min_length=1)
    id: str | None = None
    source: str | None = None
    context: str | None = None


class _Body(_Strict):
    lists: list[_List] | None = Field(default=None, min_length=1)
    hypotheses: list[_TextOrObject] | None = Field(default=None, min_length=1)
    id: str | None = None
    source: str | None = None
    context: str | None = None
    nbest: str | None = None
    format: str | None = None
    sources: list[str] | None = None


class Lists(NamedTuple):
    """The lists of a request, and their format where they have one."""

    nbests: list[NBestList]
    format: NBestFormat | None


def read_request(request: Request, reranker: Reranker, limits: Limits) -> Lists:
    """The lists of a request. Raises FormatError and ConfigError for one that is malformed or beyond the limits."""
    if request.output not in OUTPUTS:
        raise ConfigError(f"output is {request.output!r}, expected one of {', '.join(OUTPUTS)}")
    if not request.is_json:
        try:
            text = request.body.decode()
        except UnicodeDecodeError as error:
            raise FormatError(f"byte {error.start + 1} of the body is not UTF-8") from None
        return _of_text(text, request.format, None, reranker, limits)
    try:
        body = _Body.model_validate_json(request.body)
    except ValidationError as error:
        raise FormatError(_problem(error)) from None
    kinds = [key for key in ("lists", "hypotheses", "nbest") if getattr(body, key) is not None]
    if len(kinds) != 1:
        raise FormatError(f"expected one of lists, hypotheses and nbest, found {' and '.join(kinds) or 'none'}")
    if body.nbest is not None:
        return _of_text(body.nbest, body.format or request.format, body.sources, reranker, limits)
    lists = body.lists or [
        _List(hypotheses=body.hypotheses or [], id=body.id, source=body.source, context=body.context)
    ]
    if len(lists) > limits.lists:  # before any of them is made
        raise FormatError(f"the request has {len(lists)} lists; this server takes at most {limits.lists}")
    dense = tuple(reranker.weights.dense)
    return Lists(list(limits.checked(_nbest(one, str(number), dense) for number, one in enumerate(lists))), None)


def _problem(error: ValidationError) -> str:
    """The first thing that is wrong with a body: where, what was wanted, and what was found."""
    first = error.errors(include_url=False)[0]
    path = first["loc"]
    where = ".".join(
        str(part)
        for before, part in zip((None, *path), path, strict=False)
        if not isinstance(before, int) or part not in KINDS
    )
    wanted = "Input should be a text or an object" if path[-1:] == ("object",) else first["msg"]
    value = first["input"]
    found = f", found {value!r:.60}" if value is None or isinstance(value, int | float) else ""
    return f"{where or 'the body'}: {wanted}{found}"


def answer(request: Request, lists: Lists, reranked: Sequence[Reranked]) -> tuple[str, bytes]:
    """The media type and the body of the answer. Raises ConfigError for JSON lists with an n-best format as output."""
    if request.output == "json":
        return "application/json", json.dumps(
            {"lists": [_record(one) for one in reranked]}, ensure_ascii=False
        ).encode()
    if request.output == "lines":
        lines = (one_line(one.best) + "\n" for one in reranked)
    elif lists.format is None:
        raise ConfigError("output=nbest is for lists in an n-best format; these are JSON")
    elif not is_written(lists.format):
        wanted = "wanted output=json or output=lines"
        raise ConfigError(f"output=nbest: lists in this format are read, not written; {wanted}")
    else:
        lines = (line for one in reranked for line in lists.format.write(one.nbest, one.rescored))
    return "text/plain; charset=utf-8", "".join(lines).encode()


def _record(reranked: Reranked) -> dict[str, object]:
    hypotheses = [{"text": h.text, "score": h.score, "row": h.row} for h in reranked]
    return {"id": reranked.nbest.segment_id, "best": reranked.best, "hypotheses": hypotheses}


def _of_text(text: str, name: str, sources: list[str] | None, reranker: Reranker, limits: Limits) -> Lists:
    """The lists of a text in the named format, or in that of the weights."""
    job = reranker.job
    if name:
        if name not in job.registry.entries["format"]:
            raise ConfigError(f"there is no format {name!r}")
        job = job.changed(nbest={"use": name})
    lines = io.StringIO(text, newline="\n")
    try:
        if job.config.nbest["use"] == "auto":
            job = job.changed(nbest={"use": guess(text.split("\n", FIRST)[:FIRST], LINES).name})
        nbests = _with_sources(job.format.read(lines, LINES), sources)
        read = list(islice(limits.checked(nbests), limits.lists + 1))
    except FormatError as error:
        if error.path == LINES:
            raise FormatError(error.message, path="request", line=error.line) from None
        raise
    if not read:
        raise FormatError("the request holds no n-best list")
    if sources is not None and len(sources) != len(read):
        raise FormatError(f"{len(sources)} sources for {len(read)} lists")
    return Lists(read, job.format)


def _with_sources(nbests: Iterator[NBestList], sources: Sequence[str] | None) -> Iterator[NBestList]:
    for number, nbest in enumerate(nbests):
        yield nbest if sources is None or number >= len(sources) else replace(nbest, source=sources[number])


def _nbest(one: _List, default: str, dense: tuple[str, ...]) -> NBestList:
    """A list of JSON: the features that have dense weights are dense, and every hypothesis must have them or none."""
    own = [_Hypothesis(text=h) if isinstance(h, str) else h for h in one.hypotheses]
    name = one.id if one.id is not None else default
    names = tuple(feature for feature in dense if any(feature in h.features for h in own))
    for number, h in enumerate(own, 1):
        for feature in names:
            if feature not in h.features:
                raise FormatError(
                    f"hypothesis {number} of segment {name} has no feature {feature!r}, which others have"
                )
    hypotheses = tuple(
        Hypothesis(
            h.text,
            tuple(h.features[feature] for feature in names),
            h.score,
            {feature: value for feature, value in h.features.items() if feature not in names},
            links=h.links,
        )
        for h in own
    )
    return NBestList(name, hypotheses, names, one.source, one.context)
