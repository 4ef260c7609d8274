"""Model files by declaration: annotations say how each field of a model's dataclass is stored, and `ModelFile` does it.

    @dataclass
    class Lexicon:
        words: Annotated[tuple[str, ...], WordList("V")]
        starts: Annotated[LongArray, Offsets("V", "E")]
        targets: Annotated[IntArray, Array("E")]
        settings: Annotated[Mapping[str, Any], Setting("training", versioned=True)]

    FILE = ModelFile(Lexicon, "lexicon", "word lexicon")

The names of sizes ("V", "E") say which lengths are equal, and the `values` of an array what its numbers may be
(array_values.py): a file whose arrays contradict them is damaged. Fields without such an annotation are not stored and
need a default. The container is that of model_file.py.
"""

# ruff: noqa: ARG002, D102 (the methods of annotations have the signatures and docstrings of Stored)

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import __version__
from rerank_plugins.core.arrays import is_offset_array
from rerank_plugins.core.errors import DAMAGE, ConfigError, ModelError
from rerank_plugins.core.trained_on import TrainedOn
from rerank_plugins.kit.files.array_values import ContentsError, ValueKind, check_range, check_values
from rerank_plugins.kit.files.model_file import Arrays, read_model, word_array, words_from, write_model

T = TypeVar("T")
KINDS = {"i": "integers", "f": "floats"}


@dataclass(frozen=True)
class Contents:
    """The settings and arrays of a file, and the sizes known so far; within a part, names have a prefix.

    `indices` are the arrays whose values are indices, each with its name and the size that they are below. `path` is
    that of messages. `aliases` are the names of the part's sizes that belong to the whole.
    """

    settings: dict[str, Any]
    arrays: Arrays
    sizes: dict[str, int] = field(default_factory=dict)
    indices: list[tuple[str, NDArray[Any], str]] = field(default_factory=list)
    path: str = ""
    prefix: str = ""
    aliases: Mapping[str, str] = field(default_factory=dict)

    def part(self, prefix: str, aliases: Mapping[str, str]) -> Contents:
        """The contents as a part sees them, whose names have this prefix."""
        shared = {own: self.whole_name(name) for own, name in aliases.items()}
        return replace(self, prefix=self.prefix + prefix, aliases=shared)

    def whole_name(self, size: str) -> str:
        """The name in the whole file of a size of this part."""
        return self.aliases.get(size, self.prefix + size)

    def agree(self, name: str, shape: tuple[int, ...], wanted: tuple[str, ...]) -> None:
        """Raise ContentsError if an array's shape contradicts the sizes.

        "V" and "V+1" stand for sizes, "3" for itself, and "*" for any.
        """
        if len(shape) != len(wanted):
            raise ContentsError(f"{name} has {len(shape)} axes, wanted {len(wanted)}")
        for length, size in zip(shape, wanted, strict=True):
            base, _, more = size.partition("+")
            size_here = int(base) if base.isdigit() else length - int(more or 0)
            expected = self.sizes.setdefault(self.whole_name(base), size_here) + int(more or 0)
            if base != "*" and length != expected:
                raise ContentsError(f"{name} has the length {length}, wanted {expected}")

    def check_indices(self) -> None:
        """Raise ContentsError for an index that is out of range, once all sizes are known."""
        for name, array, size in self.indices:
            check_range(name, array, 0, self.sizes[size] - 1)


class Stored:
    """An annotation of a field; `name` is that of the setting or array, by default the field's."""

    name = ""

    def write(self, value: Any, name: str, contents: Contents) -> None:
        """Add the field's value to the contents."""
        raise NotImplementedError

    def read(self, hint: Any, name: str, contents: Contents) -> Any:
        """The field's value, of the type `hint`. Raises ModelError, or an error of DAMAGE."""
        raise NotImplementedError


class Array(Stored):
    """An array of this shape; its values are indices less than the size `below`, if there is one.

    `values` are the allowed numbers in others: by default all integers, and all finite floats.
    """

    def __init__(self, *shape: str, name: str = "", below: str = "", values: ValueKind | None = None) -> None:
        self.shape, self.name, self.below, self.values = shape, name, below, values

    def write(self, value: Any, name: str, contents: Contents) -> None:
        """Add the array to the contents."""
        contents.arrays[contents.prefix + name] = value

    def read(self, hint: Any, name: str, contents: Contents) -> Any:
        """The array. Raises ContentsError for another type or shape than the field's, and for values out of range."""
        full_name = contents.prefix + name
        array = contents.arrays[full_name]
        wanted, found = (KINDS.get(dtype.kind.replace("u", "i")) for dtype in (np.dtype(_scalar(hint)), array.dtype))
        if wanted and found != wanted:
            raise ContentsError(f"{full_name} has the type {array.dtype}, wanted {wanted}")
        contents.agree(full_name, array.shape, self.shape)
        if self.below:
            contents.indices.append((full_name, array, contents.whole_name(self.below)))
        if values := self.values or ("finite" if array.dtype.kind == "f" else None):
            check_values(full_name, array, values)
        return array


class Offsets(Array):
    """(parts + 1) where each part of an array of the size `whole` starts, and the end: ascending from 0."""

    def __init__(self, parts: str, whole: str, name: str = "") -> None:
        super().__init__(f"{parts}+1", name=name)
        self.whole = whole

    def read(self, hint: Any, name: str, contents: Contents) -> Any:
        """The offsets. Raises ContentsError where they do not rise from 0 to the size of the whole."""
        array, full_name = super().read(hint, name, contents), contents.prefix + name
        if not is_offset_array(array, int(array[-1]) if len(array) else 0):
            raise ContentsError(f"{full_name} are not ascending offsets: {_shown(array)}, wanted to rise from 0")
        contents.agree(f"the array that {full_name} divide", (int(array[-1]),), (self.whole,))
        return array


class WordList(Array):
    """A list of so many words, none of which contains a line end."""

    def write(self, value: Any, name: str, contents: Contents) -> None:
        """Add the words to the contents, as one array of bytes."""
        contents.arrays[contents.prefix + name] = word_array(value)

    def read(self, hint: Any, name: str, contents: Contents) -> Any:
        """The words. Raises ContentsError for another number of them than the size says, and for bytes in no UTF-8."""
        full_name = contents.prefix + name
        try:
            words = words_from(contents.arrays[full_name])
        except UnicodeDecodeError as error:
            raise ContentsError(f"{full_name} has bytes that are not UTF-8 ({error})") from None
        contents.agree(full_name, (len(words),), self.shape)
        return words


class NamedArrays(Array):
    """Arrays of one shape by name: their names are a setting, and the arrays have a prefix."""

    def __init__(self, prefix: str, *shape: str) -> None:
        super().__init__(*shape)
        self.prefix = prefix

    def write(self, value: Any, name: str, contents: Contents) -> None:
        contents.settings[name] = list(value)
        for key, array in value.items():
            super().write(array, self.prefix + key, contents)

    def read(self, hint: Any, name: str, contents: Contents) -> Any:
        kind = get_args(hint)[1]
        return {
            key: super(NamedArrays, self).read(kind, self.prefix + key, contents) for key in contents.settings[name]
        }


class Setting(Stored):
    """Values of JSON, also with dataclasses and small arrays inside; a mapping may get the program's version.

    `name` may be a path with dots, where "*" stands for the prefix of the part. A mapping has at least the `keys`.
    `size` is the name of a tuple's length.
    """

    def __init__(self, name: str = "", *, versioned: bool = False, keys: tuple[str, ...] = (), size: str = "") -> None:
        self.name, self.versioned, self.keys, self.size = name, versioned, keys, size

    def write(self, value: Any, name: str, contents: Contents) -> None:
        """Add the value to the settings, below the names of its path."""
        *above, last = self._path(name, contents)
        settings = contents.settings
        for key in above:
            settings = settings.setdefault(key, {})
        settings[last] = {**value, "version": __version__} if self.versioned else _to_json(value)

    def read(self, hint: Any, name: str, contents: Contents) -> Any:
        """The value, of the type `hint`. Raises an error of DAMAGE where it is missing or of another type."""
        value: Any = contents.settings
        for key in self._path(name, contents):
            value = value[key]
        if self.size:
            contents.agree(name, (len(value),), (self.size,))
        return _from_json(hint, {key: value[key] for key in self.keys} if self.keys else value)

    def _path(self, name: str, contents: Contents) -> list[str]:
        return name.replace("*", contents.prefix.rstrip(".")).split(".")


class Part(Stored):
    """A dataclass with annotations of its own; the names of its arrays get a prefix, and its sizes are its own.

    Sizes that belong to the whole are named: `Part("source.", V="words")`. With `keys`, the field is a mapping of them
    to parts, each of which has its key in the prefix. An `optional` part is None where a file has none of its arrays.
    """

    def __init__(self, prefix: str = "", keys: tuple[str, ...] = (), *, optional: bool = False, **aliases: str) -> None:
        self.prefix, self.keys, self.optional, self.aliases = prefix, keys, optional, aliases

    def write(self, value: Any, name: str, contents: Contents) -> None:
        if self.optional and value is None:
            return
        for key, part in [(f"{key}.", value[key]) for key in self.keys] or [("", value)]:
            write_fields(part, contents.part(self.prefix + key, self.aliases))

    def read(self, hint: Any, name: str, contents: Contents) -> Any:
        if self.optional:
            if not any(array.startswith(contents.prefix + self.prefix) for array in contents.arrays):
                return None
            hint = get_args(hint)[0]
        if not self.keys:
            return read_fields(hint, contents.part(self.prefix, self.aliases))
        part = get_args(hint)[1]
        return {key: read_fields(part, contents.part(f"{self.prefix}{key}.", self.aliases)) for key in self.keys}


@dataclass(frozen=True)
class ModelFile(Generic[T]):
    """The files of a model: its class, the kind in the header, and its name in messages.

    The fields `first` stand first in the file, then the others in their order. `check` is called with a model that has
    been read; it returns False, or raises an error of DAMAGE, if the file is damaged. `rounded` gives the model that a
    compact file has.
    """

    model: type[T]
    kind: str
    noun: str
    first: tuple[str, ...] = ()
    check: Callable[[T], object] = id
    rounded: Callable[[T], T] | None = None

    def write(self, model: T, path: Path, trained_on: TrainedOn | None = None, *, compact: bool = False) -> int:
        """Write the model atomically, rounded and compressed if `compact`; return the size in bytes. Raises OSError."""
        written = self.rounded(model) if compact and self.rounded else model
        return write_model(path, self.kind, *self.contents(written), trained_on, compressed=compact)

    def read(self, path: Path) -> T:
        """Map a model into memory.

        Raises ModelError for a file that is missing, cut short, damaged, or of another version or kind.
        """
        return self.from_contents(*read_model(path, self.kind), str(path))

    def contents(self, model: T, prefix: str = "") -> tuple[dict[str, Any], Arrays]:
        """The settings and the arrays of a model; a `prefix` of their names serves files with other arrays, too."""
        contents = Contents({}, {}, prefix=prefix)
        write_fields(model, contents, self.first)
        return contents.settings, contents.arrays

    def from_contents(self, settings: dict[str, Any], arrays: Arrays, path: str, prefix: str = "") -> T:
        """The model of `contents` in the file `path`. Raises ModelError if they are damaged."""
        try:
            contents = Contents(settings, arrays, path=path, prefix=prefix)
            model: T = read_fields(self.model, contents)
            contents.check_indices()
            if self.check(model) is not False:
                return model
        except ContentsError as error:
            raise ModelError(f"{path}: damaged {self.noun}: {error}") from None
        except (ConfigError, *DAMAGE) as error:
            raise ModelError(f"{path}: damaged {self.noun} ({type(error).__name__}: {error})") from None
        except ModelError as error:
            raise error if path in str(error) else ModelError(f"{path}: {error}") from None
        raise ModelError(f"{path}: damaged {self.noun}: its parts do not fit together")


def write_fields(value: Any, contents: Contents, first: tuple[str, ...] = ()) -> None:
    """Add the annotated fields of a dataclass to the contents, the `first` ones before the others."""
    stored = _stored(value.__class__)
    for name in dict.fromkeys((*first, *stored)):
        annotation, _ = stored[name]
        annotation.write(getattr(value, name), annotation.name or name, contents)


def read_fields(kind: Any, contents: Contents) -> Any:
    """A dataclass of these contents. Raises ModelError, or an error of DAMAGE."""
    stored = _stored(kind).items()
    return kind(**{name: how.read(hint, how.name or name, contents) for name, (how, hint) in stored})


@cache
def _stored(kind: Any) -> dict[str, tuple[Stored, Any]]:
    """The annotation and the type of each stored field of a dataclass."""
    hints = {each.name: get_type_hints(kind, include_extras=True)[each.name] for each in fields(kind)}
    annotated = {name: hint for name, hint in hints.items() if get_origin(hint) is Annotated}
    return {name: (hint.__metadata__[0], hint.__origin__) for name, hint in annotated.items()}


def _scalar(hint: Any) -> Any:
    """The type of an array's elements; object where it is Any."""
    scalar = get_args(get_args(hint)[1])[0]
    return object if scalar is Any else scalar


def _shown(starts: NDArray[Any]) -> str:
    """Where offsets do not rise from 0."""
    if not len(starts) or starts[0]:
        return f"{starts[0]} at 0" if len(starts) else "none"
    place = int(np.argmax(starts[1:] < starts[:-1]))
    return f"{starts[place + 1]} at {place + 1} after {starts[place]}"


def _to_json(value: Any) -> Any:
    if is_dataclass(value):
        return {each.name: _to_json(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {key: _to_json(each) for key, each in value.items()}
    return value.tolist() if isinstance(value, np.ndarray) else value


def _from_json(hint: Any, value: Any) -> Any:
    """The value of a type from a value of JSON. Raises an error of DAMAGE."""
    kind = get_origin(hint) or hint
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{name: _from_json(hints[name], each) for name, each in value.items()})  # type: ignore[operator]
    if kind is np.ndarray:
        return np.array(value, _scalar(hint))
    if kind in (bool, dict, Mapping) and not isinstance(value, kind):
        raise TypeError(f"{value!r:.80} is no {kind.__name__}")
    if isinstance(value, dict) and (args := get_args(hint)):
        return {key: _from_json(args[1], each) for key, each in value.items()}
    return kind(value) if kind in (int, float, tuple) else value
