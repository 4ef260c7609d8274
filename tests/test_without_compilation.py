"""Kernels are also plain Python: a debugger and a coverage tool can enter them, and their values are the same."""

import os
import subprocess

import numpy as np
import pytest

from rerank_plugins import FeatureTable
from tests.command_line import RERANK, done
from tests.conftest import ROOT

LISTS = """0 ||| the house is small . ||| LM= -1 ||| -1.0
0 ||| small is the house . ||| LM= -3 ||| -2.0
"""
FEATURES = (
    "consensus",
    "word-posteriors",
    f"ngram-lm,model={ROOT / 'example_nbest' / 'mt' / 'lm.arpa'}",
    "dependency-lm",
    "treelet-lm",
    "hhmm-lm,beam=20",
    "svs-similarity",
)


@pytest.mark.release
def test_values_are_those_of_machine_code(tmp_path, monkeypatch):
    monkeypatch.setenv("RERANK_CACHE", "")
    lists, compiled, interpreted = (tmp_path / name for name in ("list.nbest", "compiled.npz", "interpreted.npz"))
    lists.write_text(LISTS)
    command = ["extract", lists, "-j", "1", *(part for feature in FEATURES for part in ("-f", feature))]
    done(*command, "-o", compiled)
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    ran = subprocess.run(
        [*RERANK, *map(str, command), "-o", interpreted],
        check=False,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert ran.returncode == 0, ran.stderr
    wanted, found = FeatureTable.load(compiled), FeatureTable.load(interpreted)
    assert found.names == wanted.names
    assert len(wanted.names) > len(FEATURES)
    np.testing.assert_allclose(found.values, wanted.values, rtol=0, atol=1e-9)
