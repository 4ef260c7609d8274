"""Training and tuning depend on the processor by rounding alone: models and weights are alike when it is taken for another.

What a library computes by the instructions of the processor can be chosen by its environment: OpenBLAS takes the
kernels of the type that it is told, NumPy leaves out features that it is told to, and numba compiles for what it is
told. The space `lsa` of random indexing, by scikit-learn, is not independent, nor are processors without AVX2.
"""

import os
import platform
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from rerank_plugins.core.loader import load_plugins
from rerank_plugins.kit.files.model_file import model_kind, read_model
from tests.command_line import done

TRAINED = {
    "ngram": "text --order 3 --prune 0,0,1 -j 1",
    "word-classes": "trees.conllu",
    "treebank": "trees.conllu",
    "dependency-lm": "trees.conllu --order 3 -j 1",
    "treelet-lm": "bank.ptb -j 1",
    "grammar": "bank.ptb --language en --splits 2",
    "hhmm": "bank.ptb --language en --estimation events",
    "svs": "bank.ptb --language en --concepts 8",
    "random-indexing": "text --dimensions 32 --centre -j 1",
    "esa": "text --documents 40 --min-count 1 --min-length 1",
    "missing-words": "text -j 1",
    "word-alignment": "pairs --iterations 3",
    "word-lexicon": "pairs --epochs 2",
    "translation-memory": "pairs",
}
# Models whose training widens the rounding of matrix products: by steps of a network, and by the clusters that words are in.
ROUNDED = {"dependency-parser", "svs-concepts"}
ALIKE = 1e-6
STEP = 2.0**-10  # between two numbers in half precision, relative to them
TRAIN_ALL = """
from tests.command_line import done
from tests.test_processors import TRAINED
for name in TRAINED:
    done("train", name, *TRAINED[name].split(), "-o", name)
"""
TUNED = ("mert,restarts=2", "pro", "mira", "expected-risk", "mbr")
TUNE_ALL = """
import sys
from tests.command_line import done
from tests.test_processors import TUNED
lists = sys.argv[1]
for tuner in TUNED:
    done("tune", lists + "/tune.nbest", "-r", lists + "/tune.en", "-j", 1, "-t", tuner, "-o", tuner,
         *"-f length -f consensus -f word-posteriors".split())
"""
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
AVX512 = [
    name
    for name in np._core._multiarray_umath.__cpu_dispatch__
    if name.startswith(("AVX512", "X86_V4")) and np._core._multiarray_umath.__cpu_features__[name]
]
OTHER = {
    "OPENBLAS_CORETYPE": "Nehalem",  # an old processor
    "NPY_DISABLE_CPU_FEATURES": " ".join(AVX512),
    "NUMBA_CPU_NAME": "generic",  # any processor
    "NUMBA_CPU_FEATURES": "",
}


def trained(place, environment) -> dict[str, Any]:
    """All models of the texts in a folder, trained in a process with this environment: text, or settings and arrays."""
    _run(TRAIN_ALL, place, environment)
    return {
        name: read_model(place / name, kind) if (kind := model_kind(place / name)) else (place / name).read_text()
        for name in TRAINED
    }


def alike(here, there) -> bool:
    """Whether two models or two texts are the same but for the rounding of numbers."""
    if isinstance(here, str):
        return NUMBER.split(here) == NUMBER.split(there) and numbers(here) == pytest.approx(numbers(there), rel=ALIKE)
    (settings, arrays), (others, other_arrays) = here, there
    if not alike(str(settings), str(others)) or arrays.keys() != other_arrays.keys():
        return False
    return all(same(array, other_arrays[name]) for name, array in arrays.items())


def same(array, other) -> bool:
    """Whether two arrays of numbers or records are the same but for the rounding of numbers."""
    if array.dtype.names:
        return array.dtype == other.dtype and all(same(array[name], other[name]) for name in array.dtype.names)
    if array.dtype.kind != "f":
        return np.array_equal(array, other)
    near = STEP if array.dtype == np.float16 else ALIKE
    return array.shape == other.shape and np.allclose(array, other, near, near)


def numbers(text) -> list[float]:
    """The numbers in a text."""
    return [float(number) for number in NUMBER.findall(text)]


def tuned(place, environment, lists) -> dict[str, str]:
    """The weights files of all tuners in a process with this environment, but for the time at which they were written."""
    environment = {**environment, "RERANK_CACHE": str(place / f"cache {len(environment)}")}
    _run(TUNE_ALL, place, environment, str(lists))
    return {tuner: re.sub("^made = .*", "", (place / tuner).read_text(), flags=re.MULTILINE) for tuner in TUNED}


def _run(program, place, environment, *arguments) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment}
    subprocess.run([sys.executable, "-c", program, *arguments], cwd=place, env=environment, check=True, timeout=500)


@pytest.fixture(scope="module")
def place(tmp_path_factory, root, treebank_path):
    """A folder with texts."""
    place = tmp_path_factory.mktemp("processors")
    source, target = (
        (root / "example_nbest" / "mt" / f"train.{side}").read_text().splitlines() for side in ("de", "en")
    )
    (place / "text").write_text("".join(f"{line}\n" for line in target[:500]))
    (place / "pairs").write_text("".join(f"{f} ||| {e}\n" for f, e in zip(source[:300], target, strict=False)))
    (place / "trees.conllu").write_bytes(treebank_path.read_bytes())
    (place / "sentences").write_text("".join(f"{line}\n" for line in target[-60:]))
    done("trees", "parse", place / "sentences", "-p", "pcfg", "-j", 1, "-o", place / "bank.ptb")
    return place


@pytest.mark.release
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the other processors are of this kind")
def test_training_does_not_depend_on_the_processor(place):
    here, there = trained(place, {}), trained(place, OTHER)
    if differing := [name for name in TRAINED if not alike(there[name], here[name])]:
        alone = {name: trained(place, {name: value}) for name, value in OTHER.items()}
        by = {name: [other for other in alone if not alike(alone[other][name], here[name])] for name in differing}
        pytest.fail(f"models that depend on the processor, and the variables that show it: {by}")


@pytest.mark.release
def test_tuning_does_not_depend_on_the_processor(tmp_path, small):
    there, here = tuned(tmp_path, OTHER, small), tuned(tmp_path, {}, small)
    assert [tuner for tuner in TUNED if not alike(there[tuner], here[tuner])] == []


def test_every_training_command_is_tried():
    assert set(TRAINED) | ROUNDED == set(load_plugins(installed=False).entries["trainer"])
