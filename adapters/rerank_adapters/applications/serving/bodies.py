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
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Annotated, NamedTuple

from pydantic import BaseModel, BeforeValidator, Field, FiniteFloat, ValidationError

from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.one_line import one_line
from rerank_adapters.formats.reading import lists_of_lines
from rerank_adapters.formats.recognition import MAX_LINES, guess
from rerank_adapters.formats.writing import is_written
from rerank_plugins import ConfigError, FormatError, Hypothesis, NBestFormat, NBestList

if TYPE_CHECKING:
    from rerank_adapters.reranker import Reranked

NO_FILE = "<stdin>"  # the path of a text that is no file, beside which no format looks for others
OUTPUTS = ("json", "lines", "nbest")

Formats = Callable[[str], NBestFormat | None]  # the format of that name; for "" that of the weights, if they record it


@dataclass(frozen=True)
class Limits:
    """The most that a request may have.

    `lists`       lists
    `hypotheses`  hypotheses of a list
    `words`       words of a hypothesis, a source sentence or a context
    `characters`  characters of the same
    """

    lists: int = 100
    hypotheses: int = 1_000
    words: int = 200
    characters: int = 4_000

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


class _Hypothesis(BaseModel, extra="forbid", strict=True):
    text: str
    score: FiniteFloat | None = None
    features: dict[str, FiniteFloat] = Field(default_factory=dict)


def _as_object(hypothesis: object) -> object:
    if not isinstance(hypothesis, str | dict):
        raise ValueError("wanted a text or an object")
    return {"text": hypothesis} if isinstance(hypothesis, str) else hypothesis


_Hypotheses = Annotated[list[Annotated[_Hypothesis, BeforeValidator(_as_object)]], Field(min_length=1)]


class _List(BaseModel, extra="forbid", strict=True):
    hypotheses: _Hypotheses
    id: str | None = None
    source: str | None = None
    context: str | None = None


class _Body(BaseModel, extra="forbid", strict=True):
    lists: Annotated[list[_List], Field(min_length=1)] | None = None
    hypotheses: _Hypotheses | None = None
    id: str | None = None
    source: str | None = None
    context: str | None = None
    nbest: str | None = None
    format: str | None = None
    sources: list[str] | None = None


def read_lists(
    request: Request, dense: Collection[str], formats: Formats, limits: Limits
) -> tuple[list[NBestList], NBestFormat | None]:
    """The lists of a request, and their format unless they are JSON; `dense` are the features with dense weights.

    Raises FormatError and ConfigError for a request that is malformed or beyond the limits.
    """
    if request.output not in OUTPUTS:
        raise ConfigError(f"output is {request.output!r}, expected one of {', '.join(OUTPUTS)}")
    if not request.is_json:
        try:
            text = request.body.decode()
        except UnicodeDecodeError as error:
            raise FormatError(f"byte {error.start + 1} of the body is not UTF-8") from None
        return _read_text(text, request.format, None, formats, limits)
    try:
        body = _Body.model_validate_json(request.body)
    except ValidationError as error:
        raise FormatError(_problem(error)) from None
    kinds = [key for key in ("lists", "hypotheses", "nbest") if getattr(body, key) is not None]
    if len(kinds) != 1:
        raise FormatError(f"expected one of lists, hypotheses and nbest, found {' and '.join(kinds) or 'none'}")
    if body.nbest is not None:
        return _read_text(body.nbest, body.format or request.format, body.sources, formats, limits)
    lists = body.lists or [
        _List.model_construct(hypotheses=body.hypotheses, id=body.id, source=body.source, context=body.context)
    ]
    if len(lists) > limits.lists:  # before any of them is made
        raise FormatError(f"the request has {len(lists)} lists; this server takes at most {limits.lists}")
    return list(limits.checked(_nbest(one, str(number), tuple(dense)) for number, one in enumerate(lists))), None


def _problem(error: ValidationError) -> str:
    """The first fault of a body: its place, the expected value and the value found."""
    first = error.errors(include_url=False)[0]
    where = ".".join(map(str, first["loc"])) or "the body"
    value = first["input"]
    found = f", found {value!r:.60}" if value is None or isinstance(value, int | float) else ""
    return f"{where}: {first['msg'].removeprefix('Value error, ')}{found}"


def _nbest(one: _List, number: str, dense: tuple[str, ...]) -> NBestList:
    """A list of JSON: the features that have dense weights are dense, and every hypothesis must have them or none."""
    name = number if one.id is None else one.id
    names = tuple(feature for feature in dense if any(feature in h.features for h in one.hypotheses))
    hypotheses = list[Hypothesis]()
    for place, h in enumerate(one.hypotheses, 1):
        if missing := [feature for feature in names if feature not in h.features]:
            where = f"hypothesis {place} of segment {name}"
            raise FormatError(f"{where} has no feature {missing[0]!r}, which others have")
        sparse = {feature: value for feature, value in h.features.items() if feature not in names}
        hypotheses.append(Hypothesis(h.text, tuple(map(h.features.__getitem__, names)), h.score, sparse))
    return NBestList(name, tuple(hypotheses), names, one.source, one.context)


def _read_text(
    text: str, name: str, sources: Sequence[str] | None, formats: Formats, limits: Limits
) -> tuple[list[NBestList], NBestFormat]:
    """The lists of a text in the named format, or in that of the weights."""
    form = formats(name)
    try:
        form = form or FORMATS[guess(text.split("\n", MAX_LINES)[:MAX_LINES], NO_FILE).name]()
        nbests = lists_of_lines(io.StringIO(text, newline="\n"), NO_FILE, form)
        read = list(islice(limits.checked(nbests), limits.lists + 1))
    except FormatError as error:
        if error.path == NO_FILE:
            raise FormatError(error.message, path="request", line=error.line) from None
        raise
    if not read:
        raise FormatError("the request holds no n-best list")
    if sources is not None:
        if len(sources) != len(read):
            raise FormatError(f"{len(sources)} sources for {len(read)} lists")
        read = [replace(nbest, source=source) for nbest, source in zip(read, sources, strict=True)]
        read = list(limits.checked(read))
    return read, form


def write_answer(output: str, form: NBestFormat | None, reranked: Sequence[Reranked]) -> tuple[str, bytes]:
    """The media type and the body of the answer; `form` is the format of the lists unless they were JSON.

    Raises ConfigError where lists in JSON, or in a format that is not written, are wanted in their format.
    """
    if output == "json":
        records = [
            {
                "id": one.segment_id,
                "best": one.best,
                "hypotheses": [{"text": h.text, "score": h.score, "row": h.row} for h in one],
            }
            for one in reranked
        ]
        return "application/json", json.dumps({"lists": records}, ensure_ascii=False).encode()
    if output == "lines":
        lines = [one_line(one.best) + "\n" for one in reranked]
    elif form is None:
        raise ConfigError("output=nbest is for lists in an n-best format; these are JSON")
    elif not is_written(form):
        wanted = "wanted output=json or output=lines"
        raise ConfigError(f"output=nbest: lists in this format are read, not written; {wanted}")
    else:
        lines = [line for one in reranked for line in form.write(one.nbest, one.rescored)]
    return "text/plain; charset=utf-8", "".join(lines).encode()
