"""Forks worker processes, which have the loaded models and compiled kernels of this process in shared memory.

A fork copies locks as they are, so it is safe only where no other thread can hold one: on Linux, in the main thread of
a program whose only other threads belong to displays of progress, which are paused meanwhile, and without torch, whose
threads do not survive.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import Any

from rerank_adapters.runtime.progress import detach, paused

ENDING = {getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)}
PR_SET_PDEATHSIG = 1


def may_fork() -> bool:
    """Whether a fork of this process is safe."""
    others = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
    return (
        sys.platform == "linux"
        and threading.current_thread() is threading.main_thread()
        and "torch" not in sys.modules
        and all(isinstance(t, threading.Timer) or type(t).__module__.startswith("rich.") for t in others)
    )


@contextmanager
def ready_to_fork() -> Iterator[None]:
    """In the block, displays of progress are paused, and signals that end a program wait."""
    with paused():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def settle(inherited: Sequence[Connection[Any, Any]], parent: int, ignore: Callable[[], None]) -> None:
    """What a fork must do first: close what is not its own, be killed when its parent ends, and use one thread.

    `inherited` are the parent's ends of pipes; `ignore` sets the handlers of signals, which arrive afterwards.
    """
    gc.freeze()  # what the parent has left half-written must not be collected, and thus written, here
    for connection in inherited:
        with suppress(OSError):
            connection.close()
    ignore()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    _be_killed_with(parent)
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__  # in place of those of a display
    detach()
    from threadpoolctl import ThreadpoolController

    ThreadpoolController().limit(limits=1)


def _be_killed_with(parent: int) -> None:
    """Let the kernel kill this process when its parent ends."""
    import ctypes

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
