"""Training and tuning do not depend on the processor: models and weights are the same when libraries take it for another.

What a library computes by the instructions of the processor can be chosen by its environment: OpenBLAS takes the
kernels of the type that it is told, NumPy leaves out features that it is told to, and numba compiles for what it is
told. The space `lsa` of random indexing, by scikit-learn, is not independent, nor are processors without AVX2.
"""

import os
import platform
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_plugins.core.loader import load_plugins
from rerank_plugins.kit import elementary_functions
from rerank_plugins.kit.matrix_products import product
from tests.command_line import done

TRAINED = {
    "ngram": "text --order 3 --prune 0,0,1 -j 1",
    "word-classes": "trees.conllu",
    "treebank": "trees.conllu",
    "dependency-lm": "trees.conllu --order 3 -j 1",
    "treelet-lm": "bank.ptb -j 1",
    "dependency-parser": "trees.conllu --language en --epochs 2",
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
ROUNDED = {"svs-concepts"}  # their first clusters are of matrix products, which processors round in different ways
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


def trained(place, environment) -> dict[str, bytes]:
    """The bytes of all models of the texts in a folder, trained in a process with this environment."""
    _run(TRAIN_ALL, place, environment)
    return {name: (place / name).read_bytes() for name in TRAINED}


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
    if differing := [name for name in TRAINED if there[name] != here[name]]:
        alone = {name: trained(place, {name: value}) for name, value in OTHER.items()}
        by = {name: [other for other in alone if alone[other][name] != here[name]] for name in differing}
        pytest.fail(f"models that depend on the processor, and the variables that show it: {by}")


@pytest.mark.release
def test_tuning_does_not_depend_on_the_processor(tmp_path, small):
    assert tuned(tmp_path, OTHER, small) == tuned(tmp_path, {}, small)


def test_every_training_command_is_tried():
    assert set(TRAINED) | ROUNDED == set(load_plugins(installed=False).entries["trainer"])


@given(st.integers(1, 9), st.integers(0, 140), st.integers(1, 9), st.sampled_from([np.float32, np.float64]))
def test_products_are_those_of_the_plain_loop(rows, terms, columns, kind):
    generator = np.random.default_rng([rows, terms, columns])
    a, b = (generator.standard_normal(shape).astype(kind) for shape in ((2, rows, terms), (2, terms, columns)))
    wanted = np.zeros((2, rows, columns), kind)
    for k in range(terms):
        wanted += a[:, :, k, None] * b[:, k, None, :]
    assert product(a, b).tobytes() == wanted.tobytes()
    assert product(a[0], np.asfortranarray(b[0])).tobytes() == wanted[0].tobytes()


def test_elementary_functions():
    x = np.array([1e-9, 0.5, 1.0, 30.0])
    for name in ("exp", "expm1", "log", "log1p", "log10"):
        assert getattr(elementary_functions, name)(x) == pytest.approx(getattr(np, name)(x), rel=1e-15)
    assert elementary_functions.power(x, 0.75) == pytest.approx(x**0.75, rel=1e-15)
