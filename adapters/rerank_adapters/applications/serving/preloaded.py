"""Loads the weights that the environment names when it is imported.

The process that forks the processes which rerank imports it (`multiprocessing.set_forkserver_preload`), so that they
share one copy of the models.
"""

import gc
import json
import os
from contextlib import suppress
from pathlib import Path

from rerank_adapters.applications.serving.worker import NAMES, ignore_signals, load

if NAMES in os.environ:
    ignore_signals()
    with suppress(Exception):  # a process that reranks meets the same error, and reports it
        weights, *files = map(Path, json.loads(os.environ[NAMES]))
        load(weights, tuple(files))
    gc.freeze()  # objects that are not collected are not written, and thus remain shared
