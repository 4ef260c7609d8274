"""What runs in a worker process: it loads its work, and answers one item after another until the pipe closes.

Workers ignore the signals that end a program, because Ctrl-C in a terminal and the end of a batch job reach every
process of it; the program ends its workers. If it dies, even by SIGKILL, they end too: on Linux the kernel kills them
at once, even in native code; elsewhere a thread of each worker does, as soon as native code lets it run.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from typing import Any, NoReturn

from rerank_plugins import PluginError
from rerank_plugins.core.files import FILE_MODULE
from rerank_plugins.core.loader import import_file
from rerank_plugins.kit.files.standard_streams import send_stdout_to_stderr

ENDING = {getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)}
PR_SET_PDEATHSIG = 1
LOOK = 1.0  # seconds between two checks of the parent process


def serve(connection: Connection[Any, Any], parent: int) -> None:
    """The main function of a worker: receive its packed work, and answer each item until the pipe closes."""
    end_with(parent)
    send_stdout_to_stderr()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    work: Future[Callable[[Any], Any]] = Future()
    try:
        work.set_result(unpacked(connection.recv_bytes()))
    except BaseException as error:
        work.set_exception(error)
    with suppress(EOFError, OSError):
        _answer(connection, work.result)


def serve_fork(
    connection: Connection[Any, Any], parent: int, work: Callable[[Any], Any], inherited: Sequence[Connection[Any, Any]]
) -> None:
    """The main function of a worker that is a fork, which has the work; signals wait until it calls this.

    It closes the parent's ends of pipes that it has `inherited`, shows no progress, and uses one thread.
    """
    gc.freeze()  # what the parent has left half-written must not be collected, and thus written, here
    for other in inherited:
        with suppress(OSError):
            other.close()
    end_with(parent)
    sys.stderr = sys.__stderr__  # in place of that of a display
    send_stdout_to_stderr()
    from threadpoolctl import ThreadpoolController

    ThreadpoolController().limit(limits=1)
    with suppress(EOFError, OSError):
        _answer(connection, lambda: work)


def end_with(parent: int) -> None:
    """Let this process end when the thread of the parent that has started it does, and not by the signals of ENDING."""
    for number in ENDING:  # unlike SIG_IGN, programs that the work starts do not inherit a handler
        signal.signal(number, lambda number, frame: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    Thread(target=_watch, args=(parent,), daemon=True).start()
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:  # it ended before
        os._exit(1)


def _watch(parent: int) -> NoReturn:
    while os.getppid() == parent:
        time.sleep(LOOK)
    os._exit(1)


def _answer(connection: Connection[Any, Any], work: Callable[[], Callable[[Any], Any]]) -> NoReturn:
    while True:
        connection.send_bytes(answer(work, connection.recv_bytes()))


def answer(work: Callable[[], Callable[[Any], Any]], item: bytes) -> bytes:
    """The pickle of (result, None) for a pickled item, or of (None, error), even if that is a KeyboardInterrupt.

    Errors are those of loading the work, of the work, and of pickling its result.
    """
    try:
        return pickle.dumps((work()(pickle.loads(item)), None))
    except BaseException as error:
        return pickle.dumps((None, _sendable(error)))


def packed(work: Callable[[Any], Any], name: str) -> bytes:
    """What another process needs to do some work, which messages call by `name`.

    It is the pickle of the work, and the files of plugins.
    Raises PluginError where the work cannot be pickled.
    """
    try:
        pickled = pickle.dumps(work)
    except Exception as error:  # the objects of plugins may raise anything
        raise PluginError(f"{name} cannot be sent to a worker process ({error}); jobs = 1 works") from error
    modules = [module for name, module in list(sys.modules.items()) if name.startswith(FILE_MODULE)]
    files = [Path(module.__file__) for module in modules if module.__file__ and Path(module.__file__).is_file()]
    return pickle.dumps((pickled, files))


def unpacked(parts: bytes) -> Callable[[Any], Any]:
    """The work, in the process that shall do it. Raises PluginError for a file of a plugin that is not there."""
    pickled, files = pickle.loads(parts)
    for file in files:  # only our loader can import the modules of plugin files
        import_file(file)
    work: Callable[[Any], Any] = pickle.loads(pickled)
    return work


def _sendable(error: BaseException) -> BaseException:
    """The error with its traceback as a note; a RuntimeError with its text if it cannot be pickled."""
    note = "in a worker process:\n" + "".join(traceback.format_exception(error))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        error = RuntimeError(f"{type(error).__name__}: {error}")
    error.add_note(note)
    return error
