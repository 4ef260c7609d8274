"""Elementary functions that are compiled on their first call, also where several threads make it."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from rerank_plugins.kit.elementary_functions import exp, log

warnings.simplefilter("error")
with ThreadPoolExecutor(8) as pool:
    print(*pool.map(lambda number: log(exp(np.full(1, float(number))))[0], range(8)))
"""


@pytest.mark.slow
def test_threads_that_call_a_function_for_the_first_time_compile_it_without_a_warning(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    ran = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == ("0.0 1.0 2.0 3.0 4.0 5.0 6.0 7.0\n", "")
