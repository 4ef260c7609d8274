"""Model files by declaration: what is written is read, and arrays that contradict their declaration are refused."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
import pytest

from rerank_plugins import Array, FloatArray, IntArray, LongArray, ModelError, ModelFile, Offsets, Setting, WordList
from rerank_plugins.kit.files import model_file
from rerank_plugins.kit.files.model_schema import NamedArrays, Part
from tests.model_files import content_of, write_content


@dataclass(frozen=True)
class Options:
    order: int = 2
    prune: tuple[int, ...] = ()


@dataclass(frozen=True)
class Side:
    words: Annotated[tuple[str, ...], WordList("V")]
    starts: Annotated[LongArray, Offsets("V", "E")]
    entries: Annotated[IntArray, Array("E", below="F")]
    tension: Annotated[float, Setting("tension.*")]
    pairs: Annotated[LongArray, Array("P", values="not negative")]
    tags: Annotated[tuple[str, ...], Setting("tags.*", size="F")] = ("t",) * 7


@dataclass(frozen=True)
class Model:
    source: Annotated[Side, Part("source.", P="P")]
    sides: Annotated[Mapping[str, Side], Part("side.", ("a", "b"), P="P")]
    spaces: Annotated[Mapping[str, FloatArray], NamedArrays("space.", "P", "*")]
    options: Annotated[Options, Setting()]
    lowercase: Annotated[bool, Setting("text.lowercase")]
    scales: Annotated[Mapping[str, FloatArray], Setting(keys=("x",))]
    provenance: Annotated[dict[str, Any], Setting(versioned=True)] = field(default_factory=dict)
    unstored: int = 3


FILE = ModelFile(Model, "tested", "tested model", first=("sides",), check=lambda model: model.options.order < 5)


def side(tension=0.5):
    return Side(("a", "b c"), np.array([0, 1, 3]), np.array([4, 5, 6], np.int32), tension, np.arange(2))


def model(**changed):
    values = {
        "source": side(), "sides": {"a": side(1.0), "b": side(2.0)}, "spaces": {"s": np.ones((2, 3))}, "options": Options(3, (0, 1)),
        "lowercase": True, "scales": {"x": np.array([1.5])}, "provenance": {"lines": 4},
    }  # fmt: skip
    return Model(**values | changed)


def test_what_is_written_is_read(tmp_path):
    FILE.write(model(), tmp_path / "m")
    read = FILE.read(tmp_path / "m")
    assert read.source.words == ("a", "b c")
    assert read.sides["b"].tension == 2.0
    assert read.sides["b"].entries.tolist() == [4, 5, 6]
    assert read.spaces["s"].shape == (2, 3)
    assert (read.options, read.lowercase, read.unstored) == (Options(3, (0, 1)), True, 3)
    assert read.scales["x"].tolist() == [1.5]
    assert set(read.provenance) == {"lines", "version"}
    _, arrays = model_file.read_model(tmp_path / "m", "tested")
    assert next(iter(arrays)) == "side.a.words"


def test_the_names_of_a_file_within_another_have_a_prefix():
    settings, arrays = FILE.contents(model(), "inner.")
    assert all(name.startswith("inner.") for name in arrays)
    assert FILE.from_contents(settings, arrays, "m", "inner.").source.words == ("a", "b c")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"source.entries": np.zeros(2, np.int32)}, "entries has the length 2, wanted 3"),
        ({"source.entries": np.zeros((3, 1), np.int32)}, "entries has 2 axes, wanted 1"),
        ({"source.entries": np.zeros(3)}, "entries has the type float64, wanted integers"),
        ({"source.starts": np.array([0, 4, 3])}, "source.starts are not ascending offsets: 3 at 2 after 4"),
        ({"source.starts": np.array([1, 1, 3])}, "source.starts are not ascending offsets: 1 at 0, wanted to rise"),
        ({"source.starts": np.array([0, 3])}, "starts has the length 2, wanted 3"),
        ({"side.b.pairs": np.array([-2, 1])}, "side.b.pairs has -2 at 0, wanted a finite number, 0 or more"),
        ({"side.b.pairs": np.arange(3)}, "pairs has the length 3, wanted 2"),
        ({"space.s": np.ones((3, 3))}, "space.s has the length 3, wanted 2"),
        ({"space.s": np.array([[1, 2], [3, np.nan]])}, "space.s has nan at 1, 1, wanted a finite number"),
        ({"space.s": np.array([[1, np.inf], [3, 4]], np.float32)}, "space.s has inf at 0, 1, wanted a finite number"),
        (
            {"source.entries": np.array([4, 7, 6], np.int32)},
            "source.entries has an index out of range: 7 at 1, wanted 0 to 6",
        ),
        ({"side.a.entries": np.array([-1, 5, 6], np.int32)}, "entries has an index out of range"),
        ({"source.words": np.array([255], np.uint8)}, "source.words has bytes that are not UTF-8"),
    ],
)
def test_arrays_that_contradict_the_declaration_are_damage(change, message, tmp_path):
    settings, arrays = FILE.contents(model())
    model_file.write_model(tmp_path / "m", "tested", settings, arrays | change)
    with pytest.raises(ModelError, match=f"m: damaged tested model.*{message}"):
        FILE.read(tmp_path / "m")


@pytest.mark.parametrize("kind", ["|a4", "|O8", "a", "4"])
def test_types_that_no_array_is_written_with_are_damage(kind, tmp_path):
    FILE.write(model(), tmp_path / "m")
    content = content_of(tmp_path / "m").replace(b'"type": "<i4"', f'"type": "{kind}"'.encode(), 1)
    write_content(tmp_path / "m", content)
    with pytest.raises(ModelError, match="m: damaged model file: its header cannot be read"):
        FILE.read(tmp_path / "m")


@pytest.mark.parametrize(
    "change",
    [
        {"text": {"lowercase": "yes"}},
        {"text": None},
        {"scales": {}},
        {"options": {"rank": 3}},
        {"options": {"order": 9}},
        {"spaces": ["t"]},
        {"provenance": 1},
    ],
)
def test_settings_that_contradict_the_declaration_are_damage(change, tmp_path):
    settings, arrays = FILE.contents(model())
    model_file.write_model(tmp_path / "m", "tested", settings | change, arrays)
    with pytest.raises(ModelError, match="m: damaged tested model"):
        FILE.read(tmp_path / "m")
