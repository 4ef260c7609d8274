"""A model file whose checksums fit and whose contents are wrong is refused by a line that names it, or can be used.

Each array of a model of every kind is changed: integers by one, floats to NaN, infinity, a positive number and 0, and
lengths by one. `NUMBA_BOUNDSCHECK=1` (CONTRIBUTING.md) turns a kernel's reads beyond an array into errors as well.
"""

import re
import warnings

import numpy as np
import pytest

from rerank_plugins import ModelError
from rerank_plugins.kit.files.model_file import read_model, read_trained_on, write_model
from tests.fuzz_targets import models
from tests.fuzzing import Hanging, bounded
from tests.model_uses import USES
from tests.test_indices_in_models import kind_of

TARGETS = [each for each in models() if each.name in USES]
FLOATS = (np.nan, np.inf, 2.5, 0.0)
# ARPA files have back-off weights above 1, with which a forged model may have p above 1.
WEIGHTS = re.compile(r"compact n-grams/weights \d of\[\d+\] = 2\.5")
NOT_CHANGED = {
    "what a model was trained on",  # the header of another target
    "concepts of sentences",  # as "concepts"
    "feature table", "recorded table", "substitutes",
    "unigrams", "settings of COMET, regression_metric", "settings of COMET, unified_metric",
}  # fmt: skip


def forgeries(arrays):
    """What is changed, and the array that is, by name."""
    for name, array in arrays.items():
        for column, kind in [(n, array.dtype[n]) for n in array.dtype.names or ()] or [(None, array.dtype)]:
            for place, value in changed_values(array if column is None else array[column], kind):
                copy = np.array(array, order="C")
                flat = copy.reshape(-1)
                (flat if column is None else flat[column])[place] = value
                yield f"{name}{'' if column is None else '/' + column}[{place}] = {value}", {name: copy}
        for axis, length in enumerate(array.shape):
            other = list(array.shape)
            other[axis] = 1
            longer = np.take(array, [-1], axis) if length else np.zeros(other, array.dtype)
            yield f"{name} with axis {axis} longer", {name: np.concatenate([array, longer], axis)}
            if length:
                yield f"{name} with axis {axis} shorter", {name: np.delete(array, -1, axis)}


def changed_values(values, kind):
    """Places, and the values that they get."""
    flat = values.reshape(-1)
    for place in dict.fromkeys((0, len(flat) - 1)) if len(flat) else ():
        if kind.kind in "iu":
            yield from ((place, flat[place] + kind.type(1)), (place, flat[place] - kind.type(1)))
        elif kind.kind == "f":
            yield from ((place, kind.type(value)) for value in FLOATS)


def fault(use, path):
    """What is wrong with the behaviour of a reader and a user of the file; "" for a refusal, and for finite values."""
    try:
        with bounded(), warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            values = list(use(path))
    except ModelError as error:
        return "" if str(error).startswith(f"{path}: ") else f"does not name the file: {error}"
    except (Exception, Hanging) as error:
        return repr(error)
    for numbers, is_ln_p in values:
        if not np.isfinite(numbers).all() or (is_ln_p and (np.asarray(numbers) > 1e-6).any()):
            return f"gives {np.asarray(numbers)}"
    return ""


def test_every_kind_of_model_is_used():
    assert {each.name for each in models()} == USES.keys() | NOT_CHANGED


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_forged_models_are_refused_or_can_be_used(target, tmp_path):
    good, bad = tmp_path / "good", tmp_path / "bad"
    target.write(good)
    kind, use = kind_of(good), USES[target.name]
    settings, arrays = read_model(good, kind)
    trained_on, faults = read_trained_on(good), []
    with np.errstate(over="ignore"):
        forged = list(forgeries(arrays))
    assert list(use(good))
    for what, change in forged:
        write_model(bad, kind, settings, {**arrays, **change}, trained_on)
        if (wrong := fault(use, bad)) and not WEIGHTS.fullmatch(f"{target.name}/{what}"):
            faults.append(f"{what}: {wrong}")
    assert not faults, "\n".join(faults)
