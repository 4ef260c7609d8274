"""A model file whose checksums fit, but which has a place that an array does not have, is refused: kernels trust it."""

import json
import re

import numpy as np
import pytest
import zstandard

from rerank_plugins import ModelError
from rerank_plugins.core.files import checked
from rerank_plugins.kit.files.model_file import MAGIC, read_model, read_trained_on, write_model
from tests.fuzz_targets import Target, models

HEADER_ONLY = "what a model was trained on"
PACKED = "n-grams"  # its links are packed in bits, which only their checksums protect
TARGETS = [each for each in models() if each.is_container and each.name not in (HEADER_ONLY, PACKED)]
# Numbers that are no places: counts and hashes, values, the symbols of n-grams, which are only compared, the bits of
# filters (`pairs`, `triples`), and, of events of the HHMM, a -1 for the end of the sentence and for the awaited symbol
# itself.
NO_PLACES = re.compile(
    r"(.*\.)?(vectors|counts|totals|hashes|documents|sentences|impacts|highest|contexts/symbol|events/symbol)"
    r"|reductions5|expansions3|pairs|triples|classes\.unknown_types"
)
OF_PLACES = {("esa", "documents"), ("translation memory", "documents")}


def kind_of(path):
    """The kind of a model file."""
    plain = checked(np.frombuffer(path.read_bytes(), np.uint8)).tobytes()
    if not plain.startswith(MAGIC):
        plain = zstandard.ZstdDecompressor().decompress(plain)
    return json.loads(plain[16 : 16 + int.from_bytes(plain[12:16], "little")])["kind"]


def changed(array, value, column=None):
    """A copy of an array, or of records with this column, with another first value."""
    copy = np.array(array, order="C")
    if column is None:
        copy.reshape(-1)[0] = value
    else:
        copy[column][0] = value
    return copy


def columns_of(array):
    """The columns of records, or None for other arrays, that hold integers."""
    kinds = {name: array.dtype[name].kind for name in array.dtype.names} if array.dtype.names else {}
    return [name for name, kind in kinds.items() if kind == "i"] or ([None] if array.dtype.kind == "i" else [])


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_places_out_of_range_are_refused(target: Target, tmp_path):
    good, bad = tmp_path / "good", tmp_path / "bad"
    target.write(good)
    kind = kind_of(good)
    settings, arrays = read_model(good, kind)
    trained_on, accepted = read_trained_on(good), []
    for name, array in arrays.items():
        for column in columns_of(array) if array.size else ():
            full = name if column is None else f"{name}/{column}"
            if NO_PLACES.fullmatch(full) and (target.name, name) not in OF_PLACES:
                continue
            for value in (-1, 1 << 30):
                write_model(bad, kind, settings, {**arrays, name: changed(array, value, column)}, trained_on)
                if not is_refused(target, bad):
                    accepted.append((full, value))
    assert not accepted


def is_refused(target, path):
    """Whether the reader says what is wrong with the file."""
    try:
        target.read(path)
    except ModelError as error:
        return str(path) in str(error)
    return False
