"""The shape of the records of a program: the paths that lead to the hypotheses of a list, their texts and numbers.

A path is keys with dots between them; `[]` is each element of an array, `0` or `-1` one of them, and `**a|b` each
object that has one of these keys, wherever it is nested. A path of numbers begins at the hypothesis, or with `^` at the
object that holds the list, where it leads to a number for each; with `-` before it the negation is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, isfinite
from operator import mul
from typing import Any

from rerank_adapters.formats.records import ADDED, ID_KEYS, found, keys_found
from rerank_plugins import option
from rerank_plugins.kit.files.text import finite

Columns = Mapping[str, Sequence[Any]]  # a number for each hypothesis by the name of the feature

HYPS = (
    "nbest", "n_best", "nbest_list", "hyps", "hypotheses", "hypos", "samples", "preds", "predictions", "candidates",
    "beams", "beam", "generations", "completions", "responses", "outputs", "translations", "sequences", "alternatives",
    "choices", "texts", "transcripts", "pred_texts", "tgt", "translation", "output", "hyp", "pred", "results",
)  # fmt: skip
TEXTS = (
    "", "text", "hyp", "hypothesis", "sentence", "transcript", "transcription", "translation", "translation_text",
    "generated_text", "pred", "pred_text", "prediction", "output", "content", "message.content", "tgt", "words", "[]",
    "0",
)  # fmt: skip
TOTALS = (
    "score", "total", "total_score", "logprob", "log_prob", "avg_logprob", "cumulative_logprob", "confidence", "1",
    "^scores.[]", "^logprobs.[]", "^log_probs.[]", "^total_scores.[]",
)  # fmt: skip
UNKNOWN = "--format json,hyps=KEY,text=KEY"
NO_FEATURES = ("index", "rank", *ID_KEYS)  # keys of a hypothesis whose numbers say nothing of it


@dataclass(frozen=True)
class Shape:
    """The paths in the records of a program; of several the first counts that leads somewhere.

    Where users name no path, those that are usual are tried (HYPS, TEXTS, TOTALS), and every other key with a number is
    a feature. The fields without a `doc` are not set by users:

    `wanted`       what a record must have, in errors
    `more_texts`   paths of texts after `text`
    `text_by`      a function that returns the text of a hypothesis, None where there is none
    `features_by`  a function of a holder and its hypotheses, which returns the features by name
    `beside`       further keys of the holder whose arrays, or objects of arrays, have a value for each hypothesis
    `of_first`     keys of the holder that repeat what the first element under another key is
    `of_ids`       a function that returns the keys of a record among which its id is looked for
    `of_file`      whether the only record of a file has the name of the file as its id
    """

    hyps: tuple[str, ...] = option((), doc="path of the array of hypotheses; default: nbest, hyps, samples, beams …")
    text: tuple[str, ...] = option(
        (), doc="path from a hypothesis to its text or tokens; default: text, hyp … or itself"
    )
    total: tuple[str, ...] = option((), doc="path from a hypothesis to its total, with ^ from the record to those of"
                                            " all, with - negated; default: score, total, logprob …")  # fmt: skip
    features: tuple[str, ...] = option((), doc="such paths, as NAME=PATH or PATH; default: all other keys with numbers")
    at: str = option("", doc="path from a document to the records that hold a list each, such as results.[]")
    n: int = option(0, doc="sequences of each segment (num_return_sequences), where an object holds a batch")
    wanted: str = ""
    more_texts: tuple[str, ...] = ()
    text_by: Callable[[Any], Any] | None = None
    features_by: Callable[[Any, Sequence[Any]], Columns] | None = None
    beside: tuple[str, ...] = ()
    of_first: Mapping[str, str] = field(default_factory=dict)
    of_ids: Callable[[Mapping[str, Any]], Any] = dict
    of_file: bool = False

    def holders(self, record: Any) -> list[Any]:
        """The objects of a record that hold a list each. Raises ValueError where there is none."""
        holders = found(record, self.at)
        if self.at.startswith("**"):
            holders = [holder for holder in holders if self._shows_texts(holder)]
        if not holders:
            raise ValueError(self._mismatch(record))
        return holders if not self.n else self._of_batch(record)

    def hypotheses(self, holder: Any) -> list[Any]:
        """The hypotheses of a list. Raises ValueError where there are none, and where two usual keys may have them."""
        arrays = {}
        for path in self.hyps or HYPS:
            for array in found(holder, path):
                if isinstance(array, dict) and not path:
                    array = [array]
                if isinstance(array, list) and array and (self.hyps or self._is_list(array)):
                    arrays[path] = array
            if arrays and self.hyps:
                break
        if len(arrays) > 1:
            first, second, *_ = arrays
            raise ValueError(f"{first!r} and {second!r} may both have the hypotheses: name one, as hyps={first}")
        if not arrays:
            raise ValueError(self._mismatch(holder))
        return next(iter(arrays.values()))

    def texts(self, array: Sequence[Any]) -> list[str]:
        """The text of each hypothesis. Raises ValueError where one has none."""
        paths = (*self.text, *self.more_texts) or TEXTS
        if self.text_by is not None:
            texts = [self.text_by(hypothesis) for hypothesis in array]
        elif paths[0] == "" and {*map(type, array)} == {str}:
            texts = [*array]
        else:
            texts = [_joined(hypothesis, paths) for hypothesis in array]
        if not all(isinstance(text, str) for text in texts):
            raise ValueError(self._mismatch(array[0]))
        return [text.strip() for text in texts]

    def numbers(self, record: Any, holder: Any, array: Sequence[Any]) -> tuple[Columns, Sequence[Any]]:
        """The features by name and the totals, one for each hypothesis; those that reranking added come first.

        A feature that a hypothesis lacks is none of the list. Raises ValueError for too few or too many numbers, and
        for a path that the user has named and that leads to none.
        """
        added = record.get(ADDED) if isinstance(record, dict) else None
        given = added if isinstance(added, dict) else {}
        if isinstance(given.get("features"), dict):
            columns: Columns = {name: of_all(name, values, array) for name, values in given["features"].items()}
        else:
            made = self._features(holder, array)
            columns = {name: values for name, values in made.items() if values and None not in values}
        if "scores" in given:
            return columns, of_all("scores", given["scores"], array)
        totals = next((columns[name] for name in self.total if name in columns), None)
        if totals is None:
            totals = numbers(holder, array, self.total or (() if self.wanted else TOTALS))
        if self.total and not self.wanted and (not totals or None in totals):
            raise ValueError(f"no number under {self.total[0]!r}, which total names{keys_found(array[0])}")
        return columns, [] if None in totals else totals

    def _features(self, holder: Any, array: Sequence[Any]) -> Columns:
        if self.features_by is not None:
            return self.features_by(holder, array)
        if self.wanted or self.features:
            named = {feature.partition("=")[0]: feature.rpartition("=")[2] for feature in self.features}
            columns = {name: numbers(holder, array, (path,)) for name, path in named.items()}
            if missing := next((name for name, values in columns.items() if not values or None in values), None):
                raise ValueError(f"no number under {named[missing]!r}, which features names{keys_found(array[0])}")
            return columns
        total = next((path for path in self.total or TOTALS if any(found(each, path) for each in array)), "")
        first = array[0] if isinstance(array[0], dict) else {}
        keys = [key for key in first if key not in (*NO_FEATURES, total)]
        inner = [(key, name) for key in keys if isinstance(first[key], dict) for name in first[key]]
        steps = (*((key,) for key in keys), *inner)
        return {".".join(path): [number(_inner(each, path)) for each in array] for path in steps}

    def composed(self, texts: Sequence[str]) -> dict[str, Any]:
        """A record with these hypotheses and nothing else."""
        path = (*self.text, *self.more_texts, "text")[-1 if self.text_by else 0]
        made: dict[str, Any] = _under(next(filter(None, self.hyps), HYPS[0]), [_under(path, text) for text in texts])
        return made

    def arrange(self, holder: Any, array: list[Any], order: Sequence[int]) -> None:
        """Put the hypotheses of a holder, and all that it has for each of them, into another order."""
        given = [path.lstrip("-")[1:].partition(".[]")[0] for path in self.total or TOTALS if "^" in path]
        beside = [value for key in (*given, *self.beside) for value in found(holder, key)]
        inner = [value for each in beside if isinstance(each, dict) for value in each.values()]
        for values in (array, *beside, *inner):
            if isinstance(values, list) and len(values) == len(order) and array[0] is not holder:
                values[:] = [values[row] for row in order]
        for key, other in self.of_first.items():
            if isinstance(holder, dict) and key in holder and isinstance(holder.get(other), list) and holder[other]:
                first = holder[other][0]
                holder[key] = first[0] if isinstance(first, list) and first else first

    def _of_batch(self, record: Any) -> list[Any]:
        """A record for each `n` hypotheses of a batch. Raises ValueError for a batch of another size."""
        path = self.hyps[0]
        array = next(iter(found(record, path)), None) if ADDED not in record else None
        if not isinstance(array, list):
            return [record]
        if len(array) % self.n:
            raise ValueError(f"{len(array)} sequences, expected a multiple of n = {self.n}")
        keys = [path, *(path[1:].partition(".[]")[0] for path in self.total if path.startswith("^"))]
        whole = {key: record[key] for key in keys if isinstance(record.get(key), list) and record[key]}
        starts = range(0, len(array), self.n)
        return [{key: of_all[at : at + self.n] for key, of_all in whole.items()} for at in starts]

    def _shows_texts(self, holder: Any) -> bool:
        """Whether the first hypothesis of a holder has a text, so that its list is one of hypotheses."""
        try:
            return bool(self.texts(self.hypotheses(holder)[:1]))
        except ValueError:
            return False

    def _is_list(self, array: Sequence[Any]) -> bool:
        """Whether an array under a usual key holds hypotheses: the first one has a text."""
        paths = (*self.text, *self.more_texts) or TEXTS
        return _joined(array[0], paths) is not None

    def _mismatch(self, value: Any) -> str:
        if self.wanted:
            return f"expected {self.wanted}"
        if self.hyps:
            return f"no hypotheses with a text under {self.hyps[0]!r}, which hyps names{keys_found(value)}"
        return f"no hypotheses under a usual key{keys_found(value)}; name the keys, {advice(value) or UNKNOWN}"


def advice(record: Any) -> str:
    """The option that would read a record whose shape is unknown: that of its first array of texts or objects.

    "" where there is none.
    """
    for path, array in _arrays(record):
        text = next((path for path in TEXTS if _joined(array[0], (path,)) is not None), None)
        if text is None and isinstance(array[0], dict):
            text = next((key for key, value in array[0].items() if isinstance(value, str) and " " in value), None)
        if text is not None and path:
            at, _, hyps = path.rpartition(".[].")
            options = [f"at={at}.[]"] * bool(at) + [f"hyps={hyps}"] + [f"text={text}"] * bool(text)
            return f"--format json,{','.join(options)}"
    return ""


def _arrays(value: Any, path: str = "") -> Iterator[tuple[str, list[Any]]]:
    """The arrays in a value with their paths; of an array of arrays, the inner ones come first."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _arrays(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value:
        yield from _arrays(value[0], f"{path}.[]" if path else "[]")
        yield path, value


def numbers(holder: Any, array: Sequence[Any], paths: Iterable[str]) -> list[Any]:
    """A number for each hypothesis, or None; empty where no path leads anywhere.

    Raises ValueError for a path from the holder that has not a number for each.
    """
    for path in paths:
        negated = path.startswith("-") and not path[1:2].isdigit()
        inner = path[negated:]
        if inner.startswith("^"):
            values = found(holder, inner[1:])
            if len(values) == 1 and isinstance(values[0], list):
                values = values[0]
            if values:
                values = of_all(inner[1:].partition(".")[0], values, array)
        else:
            values = [number(next(iter(found(each, inner)), None)) for each in array]
            if inner.isdigit() and any(isinstance(value, str) for value in values):  # tokens, not a text and its score
                continue
        if any(value is not None for value in values):
            return [None if value is None else -real(value, inner) for value in values] if negated else values
    return []


def number(value: Any) -> Any:
    """The value, if it is a number or the text of one, which the lists check; None for any other value."""
    if isinstance(value, str):
        try:
            float(value)
        except ValueError:
            return None
        return value
    return None if isinstance(value, bool) or not isinstance(value, int | float) else value


def real(value: Any, name: str) -> float:
    """A number, or the text of one, as a finite number. Raises ValueError, which calls it by the name."""
    if isinstance(value, float) and isfinite(value):
        return value
    try:
        return finite(value if isinstance(value, str) else repr(value))
    except ValueError:
        raise ValueError(f"{name.lstrip('^')} is {value}, expected a finite number") from None


def mean(values: Sequence[Any], name: str, weights: Sequence[float] | None = None) -> float | None:
    """The weighted mean of numbers; None where there are none, or where one is missing. Raises ValueError."""
    if {*map(type, values)} == {float}:  # nearly always
        floats = values
    elif values and all(number(value) is not None for value in values):
        floats = [real(value, name) for value in values]
    else:
        return None
    try:
        total = fsum(floats if weights is None else map(mul, floats, weights))
    except OverflowError:
        raise ValueError(f"{name} is beyond all numbers, expected a finite number") from None
    return real(total / (len(floats) if weights is None else sum(weights)), name)


def of_all(name: str, values: Any, array: Sequence[Any]) -> list[Any]:
    """The numbers of an array that has one for each hypothesis. Raises ValueError for any other value."""
    if isinstance(values, list) and len(values) == len(array) and {*map(type, values)} <= {float, int}:
        return values
    checked = [number(value) for value in values] if isinstance(values, list) else []
    if len(checked) != len(array) or None in checked:
        raise ValueError(f"{name!r} must be {len(array)} finite numbers, one for each hypothesis")
    return checked


def _inner(value: Any, keys: Iterable[str]) -> Any:
    """The value under a key in a key; None where there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _joined(hypothesis: Any, paths: Sequence[str]) -> str | None:
    """The text at the first path that leads to one, or to tokens; None where there is none."""
    if hypothesis == [] and "[]" in paths:
        return ""
    for path in paths:
        values = found(hypothesis, path) if path else [hypothesis]
        if values and all(isinstance(value, str) for value in values):
            return " ".join(values)
    return None


def _under(path: str, value: Any) -> Any:
    """The value below the keys of a path."""
    for step in reversed(path.split(".") if path else ()):
        value = {step: value} if not (step.removeprefix("-").isdigit() or step == "[]") else [value]
    return value
