"""The shape of a record of JSON: the paths that lead to the hypotheses of a list, to their texts and their numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, isfinite
from operator import mul
from typing import Any

from rerank_adapters.formats.records import ADDED, found
from rerank_plugins.kit.files.text import finite

Columns = Mapping[str, Sequence[Any]]  # a number for each hypothesis by the name of the feature


@dataclass(frozen=True)
class Shape:
    """The paths in the records of a program; of several the first counts that leads somewhere.

    `wanted`    what a record must have, in errors
    `at`        from a record to the objects that hold a list each
    `hyps`      from such an object to the array of its hypotheses; "" is the object itself, an array or a list of one
    `text`      from a hypothesis to its text or its tokens; or a function that returns it, None where there is none
    `total`     from a hypothesis to its total or, with `^`, from the holder to an array of totals, and with `-` before
                it to their negation; or the name of the feature that is the total
    `features`  the same for each feature; or a function of the holder and its hypotheses, which returns columns
    `beside`    further keys of the holder whose arrays, or objects of arrays, have a value for each hypothesis
    `of_first`  keys of the holder that repeat what the first element under another key is
    `of_ids`    the keys of a record among which its id is looked for, where these are not all
    `of_file`   whether the only record of a file has the name of the file as its id
    """

    wanted: str
    hyps: tuple[str, ...]
    text: tuple[str, ...] | Callable[[Any], Any] = ("",)
    total: tuple[str, ...] = ()
    features: Mapping[str, tuple[str, ...]] | Callable[[Any, Sequence[Any]], Columns] = field(default_factory=dict)
    at: str = ""
    beside: tuple[str, ...] = ()
    of_first: Mapping[str, str] = field(default_factory=dict)
    of_ids: Callable[[Mapping[str, Any]], Any] = dict
    of_file: bool = False

    def holders(self, record: Any) -> list[Any]:
        """The objects of a record that hold a list each. Raises ValueError where there is none."""
        if holders := found(record, self.at):
            return holders
        raise ValueError(f"expected {self.wanted}")

    def hypotheses(self, holder: Any) -> list[Any]:
        """The hypotheses of a list. Raises ValueError where there are none."""
        for path in self.hyps:
            for array in found(holder, path):
                if isinstance(array, list) and array:
                    return array
                if isinstance(array, dict) and not path:
                    return [array]
        raise ValueError(f"expected {self.wanted}")

    def texts(self, array: Sequence[Any]) -> list[str]:
        """The text of each hypothesis. Raises ValueError where one has none."""
        paths = self.text
        if callable(paths):
            texts = [paths(hypothesis) for hypothesis in array]
        elif paths[0] == "" and {*map(type, array)} == {str}:
            texts = [*array]
        else:
            texts = [_joined(hypothesis, paths) for hypothesis in array]
        if not all(isinstance(text, str) for text in texts):
            raise ValueError(f"expected {self.wanted}")
        return [text.strip() for text in texts]

    def numbers(self, record: Any, holder: Any, array: Sequence[Any]) -> tuple[Columns, Sequence[Any]]:
        """The features by name and the totals, one for each hypothesis; those that reranking added come first.

        A feature that a hypothesis lacks is none of the list. Raises ValueError for too few or too many numbers.
        """
        added = record.get(ADDED) if isinstance(record, dict) else None
        given = added if isinstance(added, dict) else {}
        if isinstance(given.get("features"), dict):
            columns: Columns = {name: of_all(name, values, array) for name, values in given["features"].items()}
        else:
            made = self.features(holder, array) if callable(self.features) else self._columns(holder, array)
            columns = {name: values for name, values in made.items() if values and None not in values}
        if "scores" in given:
            return columns, of_all("scores", given["scores"], array)
        totals = next((columns[name] for name in self.total if name in columns), None)
        totals = totals or numbers(holder, array, self.total)
        return columns, [] if None in totals else totals

    def _columns(self, holder: Any, array: Sequence[Any]) -> Columns:
        named: Mapping[str, tuple[str, ...]] = {} if callable(self.features) else self.features
        return {name: numbers(holder, array, paths) for name, paths in named.items()}

    def composed(self, texts: Sequence[str]) -> dict[str, Any]:
        """A record with these hypotheses and nothing else."""
        path = self.text[0] if not callable(self.text) else "text"
        hypotheses = [_under(path, text) for text in texts]
        made: dict[str, Any] = _under(next(filter(None, self.hyps)), hypotheses)
        return made

    def arrange(self, holder: Any, array: list[Any], order: Sequence[int]) -> None:
        """Put the hypotheses of a holder, and all that it has for each of them, into another order."""
        given = [path.lstrip("-").removeprefix("^").partition(".[]")[0] for path in self.total if "^" in path]
        beside = [value for key in (*given, *self.beside) for value in found(holder, key)]
        inner = [value for each in beside if isinstance(each, dict) for value in each.values()]
        for values in (array, *beside, *inner):
            if isinstance(values, list) and len(values) == len(order) and array[0] is not holder:
                values[:] = [values[row] for row in order]
        for key, other in self.of_first.items():
            if isinstance(holder, dict) and key in holder and isinstance(holder.get(other), list) and holder[other]:
                first = holder[other][0]
                holder[key] = first[0] if isinstance(first, list) and first else first


def numbers(holder: Any, array: Sequence[Any], paths: Iterable[str]) -> list[Any]:
    """A number for each hypothesis, or None; empty where no path leads anywhere.

    Raises ValueError for a path from the holder that has not a number for each.
    """
    for path in paths:
        negated = path.startswith("-") and not path[1:2].isdigit()
        inner = path[negated:]
        if inner.startswith("^"):
            values = found(holder, inner[1:])
            if values:
                values = of_all(inner[1:].partition(".")[0], values, array)
        else:
            values = [number(next(iter(found(each, inner)), None)) for each in array]
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


def _joined(hypothesis: Any, paths: Iterable[str]) -> str | None:
    """The text at the first path that leads to one, or to tokens; None where there is none."""
    if hypothesis == []:
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
