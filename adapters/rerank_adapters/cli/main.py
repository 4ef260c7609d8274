"""The `rerank` command: runs the command line, and turns errors and signals into one line and an exit code.

Data goes to stdout, everything else to stderr. The exit code is 0 for success, 1 for an internal error, 2 for
wrong input or usage (one line names the error) and for a check that found errors, 130 after an interrupt (Ctrl-C),
143 after SIGTERM, which batch systems, service managers, `timeout` and `kill` send, and 129 after SIGHUP (the terminal
was closed). These two signals are handled as Ctrl-C is, so that no unfinished files remain.
"""

from __future__ import annotations

import errno
import gc
import io
import logging
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

import click
from click.shell_completion import shell_complete

from rerank_adapters.cli.commands import program
from rerank_plugins import RerankError
from rerank_plugins.core.files import cache_folder
from rerank_plugins.core.owners import culprit, said
from rerank_plugins.kit.files.standard_streams import drop_unread

SENTENCE = re.compile(r"[A-Z][a-z]+ ")  # the beginning of a message of click, where a name would have other characters
COMPLETION = "_RERANK_COMPLETE"  # the variable that is set by the shell's completion function, which click writes
WITHOUT_TRACEBACK = (KeyboardInterrupt, BrokenPipeError, click.ClickException, click.Abort, click.exceptions.Exit)
REPEATED = 1.0  # seconds within which a signal counts once: `timeout` sends it to the process and to its group


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit; every error that the program expects becomes one line on stderr."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # as stderr writes what its encoding lacks
    try:
        with ended_by_signals(), log_on_stderr():
            result = _run(arguments)
            sys.stdout.flush()
        message, code = "", result if isinstance(result, int) else 0
    except (Exception, KeyboardInterrupt) as error:
        if "--debug" in arguments and not isinstance(error, WITHOUT_TRACEBACK):
            raise
        message, code = _outcome(error)
    try:
        if message:
            print("rerank:", " ".join(message.splitlines()), file=sys.stderr)
    except OSError:  # nobody reads it: the terminal is gone
        drop_unread()
    sys.exit(code)


def _run(arguments: list[str]) -> Any:
    """What a command returns, or the exit code of an answer to the shell that completes one."""
    command_line = program()
    if completing := os.environ.get(COMPLETION):
        return shell_complete(command_line, {}, "rerank", COMPLETION, completing)
    os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")  # its errors take a thirtieth of compiling
    relax_gc()
    with command_line.make_context("rerank", list(arguments)) as context:
        return command_line.invoke(context)


def relax_gc() -> None:
    """Let this process collect garbage less often than CPython does by itself.

    The compiler of kernels, and the readers of lists, make objects by the million, few of them in cycles.
    """
    gc.set_threshold(50_000, 10, 10)


def _outcome(error: BaseException) -> tuple[str, int]:
    """The line on stderr, if there is one, and the exit code of a command that an error or a signal ended."""
    match error:
        case click.exceptions.Exit():
            return "", error.exit_code
        case click.exceptions.NoArgsIsHelpError():
            error.show()
            return "", 2
        case click.ClickException():
            return _usage(error), 2
        case KeyboardInterrupt() | click.Abort():
            if not isinstance(error, Terminated) and sys.stderr.isatty():
                print(file=sys.stderr)  # after the ^C
            state = ", and the same command continues an extraction" if cache_folder() else ""
            what, code = ("terminated", error.code) if isinstance(error, Terminated) else ("interrupted", 130)
            return f"{what}; no file is half written{state}", code
        case BrokenPipeError():  # the reader of our output has gone, as `head` does: this is no error
            drop_unread()
            return "", 0
        case RerankError():
            return str(error), 2
        case OSError():
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            reason = "no space left on the disk" if full else error.strerror or str(error)
            return (f"{error.filename}: {reason}" if error.filename else reason), 2
        case UnicodeEncodeError() if error.reason == "surrogates not allowed":
            return f"{error.object!r} is not UTF-8, in which configs and results name files; rename it", 2
        case MemoryError():
            return "out of memory; use --jobs 1, or split the lists into several files", 2
    if isinstance(error, Exception) and (plugin := culprit(error)):
        return f"{plugin}: {said(error)}", 2
    return f"internal error: {type(error).__name__}: {error} (`rerank --debug COMMAND ...` shows where)", 1


def _usage(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    command = context.command_path if context else "rerank"
    message = re.sub(r"\. \(?Did you mean (.*\?)\)?", r"; did you mean \1", error.format_message()).rstrip(".")
    if SENTENCE.match(message):
        message = f"{message[:1].lower()}{message[1:]}"
    return f"{message}; see `{command} --help`"


class LinesOnStderr(logging.Handler):
    """Writes each message of the log as a line of its own to stderr, and a warning that comes again only once."""

    def __init__(self) -> None:
        super().__init__()
        self._warnings: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Write the line. Raises BrokenPipeError where nobody reads it, as every other line of a command does."""
        line = self.format(record)
        if record.levelno < logging.WARNING or line not in self._warnings:
            click.echo(line, err=True)
        if record.levelno >= logging.WARNING:
            self._warnings.add(line)


@contextmanager
def log_on_stderr() -> Iterator[None]:
    """In the block, what the library reports in the log, from the level INFO on, is written to stderr."""
    handler = LinesOnStderr()
    levels = {logger: logger.level for logger in map(logging.getLogger, ("rerank_adapters", "rerank_plugins"))}
    for logger in levels:
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)
            logger.removeHandler(handler)


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP was received. `code` is the exit code for it: 128 + the number of the signal."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.code = 128 + number


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """In the block, SIGTERM and SIGHUP raise Terminated in the main thread, as SIGINT raises KeyboardInterrupt.

    Signals that are ignored (`nohup`) or that the calling program handles are left alone, and in another thread than
    the main one the block changes nothing. A signal that is repeated within a second counts once. When a signal ends
    the block, the program is about to end, and both signals are ignored from then on.
    """
    last: float | None = None

    def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 -- the arguments of a signal handler
        nonlocal last
        before, last = last, time.monotonic()
        if before is None or last - before >= REPEATED:
            raise Terminated(number)

    in_main_thread = threading.current_thread() is threading.main_thread()
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if in_main_thread and hasattr(signal, name)]
    handled = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in handled:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, signal.SIG_DFL if last is None else signal.SIG_IGN)


if __name__ == "__main__":
    main()
