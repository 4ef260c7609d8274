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
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple, NoReturn

from rerank_adapters.runtime.progress import detach
from rerank_plugins import PluginError
from rerank_plugins.core.identity import FILE_MODULE
from rerank_plugins.core.intact_files import Identity, checked_files, trust
from rerank_plugins.core.loader import import_file

ENDING = {getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)}
PR_SET_PDEATHSIG = 1
LOOK = 1.0  # seconds between two checks of the parent process


class Load(NamedTuple):
    """What another process needs to do some work.

    It is the pickle of the work, the files of plugins, and the model files whose checksums this process has verified.
    """

    pickled: bytes
    files: tuple[Path, ...]
    checked: frozenset[Identity]

    @classmethod
    def of(cls, work: Callable[[Any], Any], name: str) -> Load:
        """What `work`, which messages call by `name`, needs. Raises PluginError where it cannot be pickled."""
        try:
            pickled = pickle.dumps(work)
        except Exception as error:  # the objects of plugins may raise anything
            raise PluginError(f"{name} cannot be sent to a worker process ({error}); jobs = 1 works") from error
        modules = [module for name, module in list(sys.modules.items()) if name.startswith(FILE_MODULE)]
        files = (Path(module.__file__) for module in modules if module.__file__)
        return cls(pickled, tuple(file for file in files if file.is_file()), checked_files())


def serve(connection: Connection[Any, Any], parent: int) -> None:
    """The main function of a worker: load the work, and answer each item by (result, error) until the pipe closes."""
    _ignore_signals()
    _end_with(parent)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with suppress(EOFError, OSError):
        _answer(connection, *attempt(load, received(connection)))


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
    _ignore_signals()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    _end_with(parent)
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__  # in place of those of a display
    detach()
    from threadpoolctl import ThreadpoolController

    ThreadpoolController().limit(limits=1)
    with suppress(EOFError, OSError):
        _answer(connection, work, None)


def _ignore_signals() -> None:
    for number in ENDING:  # unlike SIG_IGN, programs that the work starts do not inherit a handler
        signal.signal(number, lambda number, frame: None)


def _end_with(parent: int) -> None:
    """Let this process end when the thread of the parent that has started it does."""
    Thread(target=_watch, args=(parent,), daemon=True).start()
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def _watch(parent: int) -> NoReturn:
    while os.getppid() == parent:
        time.sleep(LOOK)
    os._exit(1)


def _answer(connection: Connection[Any, Any], work: Callable[[Any], Any], failure: BaseException | None) -> None:
    while True:
        item = received(connection)
        answer = (None, failure) if failure else attempt(work, item)
        _, unsent = attempt(send, connection, answer)
        if unsent:  # the result cannot be pickled, or the pipe is closed
            send(connection, (None, unsent))


def attempt(function: Callable[..., Any], *arguments: Any) -> tuple[Any, BaseException | None]:
    """The function's result and None, or None and the error, even if it is a KeyboardInterrupt or SystemExit."""
    try:
        return function(*arguments), None
    except BaseException as error:
        return None, sendable(error)


def load(parts: Load) -> Callable[[Any], Any]:
    """The work, in the process that shall do it. Raises PluginError for a file of a plugin that is not there."""
    trust(parts.checked)
    for file in parts.files:  # only our loader can import the modules of plugin files
        import_file(file)
    work: Callable[[Any], Any] = pickle.loads(parts.pickled)
    return work


def sendable(error: BaseException) -> BaseException:
    """The error with its traceback as a note; a RuntimeError with its text if it cannot be pickled."""
    note = "in a worker process:\n" + "".join(traceback.format_exception(error))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        error = RuntimeError(f"{type(error).__name__}: {error}")
    error.add_note(note)
    return error


def send(connection: Connection[Any, Any], value: object) -> None:
    """Send a value as bytes: `Connection.send` has a view of a buffer, which an error's traceback may keep too long."""
    connection.send_bytes(pickle.dumps(value))


def received(connection: Connection[Any, Any]) -> Any:
    """The next value that the other process sends. Raises EOFError, OSError."""
    return pickle.loads(connection.recv_bytes())
