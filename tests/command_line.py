"""Running `rerank` from tests: in this process (fast), or in one of its own (signals, limits, what gets imported)."""

import io
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from rerank_adapters.cli.main import main

RERANK = (sys.executable, "-c", "from rerank_adapters.cli.main import main; main()")
BLEU = ("-m", "bleu,tokenize=none")


@dataclass(frozen=True)
class Ran:
    """How a command ended; `out` and `err` are text."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


class Captured(io.TextIOWrapper):
    """A stream like stdout of a terminal's pipe: text, with bytes below."""

    def __init__(self, content: bytes = b"") -> None:
        super().__init__(io.BytesIO(content), encoding="utf-8", newline="", write_through=True)

    def text(self) -> str:
        return self.buffer.getvalue().decode()  # type: ignore[attr-defined]


def rerank(*arguments: object, stdin: str | bytes = "") -> Ran:
    """`rerank ARGUMENTS` in this process."""
    given = stdin.encode() if isinstance(stdin, str) else stdin
    out, err = Captured(), Captured()
    with mock.patch.multiple(sys, stdin=Captured(given), stdout=out, stderr=err):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = ended.code
    assert isinstance(code, int)
    return Ran(code, out.text(), err.text())


def done(*arguments: object, stdin: str | bytes = "") -> Ran:
    """The same, which must end well."""
    ran = rerank(*arguments, stdin=stdin)
    assert ran.code == 0, ran.err
    return ran


def refused(*arguments: object, stdin: str | bytes = "", code: int = 2) -> str:
    """The one line that a command ends with when it refuses its input: what it says after `rerank: `."""
    return one_line(rerank(*arguments, stdin=stdin), code)


def one_line(ran: Ran, code: int, *, after: bool = False) -> str:
    """What a failed command says after `rerank: `, on exactly one line; with `after`, at the end of others."""
    assert ran.code == code, (ran.code, ran.err)
    assert ran.err.endswith("\n")
    *before, last = ran.err.splitlines()
    assert last.startswith("rerank: "), ran.err
    assert after or not before, ran.err
    assert not any(line.startswith(("rerank: ", "Traceback")) for line in before), ran.err
    return last.removeprefix("rerank: ")


def says_what_it_wrote(ran: Ran, what: str, path: object = "stdout") -> bool:
    """Whether the last line on stderr is `wrote WHAT to PATH in 1.2 s`; `what` is a regular expression."""
    return re.fullmatch(rf"wrote {what} to {re.escape(str(path))} in \d+\.\d s", ran.err.splitlines()[-1]) is not None


def start(*arguments: object, cwd: Path | None = None, **options: object) -> subprocess.Popen[bytes]:
    """`rerank ARGUMENTS` in a process of its own, pipes on all sides."""
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    command = [*RERANK, *map(str, arguments)]
    return subprocess.Popen(command, cwd=cwd, env=environment, **{**pipes, **options})  # type: ignore[call-overload, no-any-return]


def in_process_of_its_own(*arguments: object, stdin: bytes = b"", cwd: Path | None = None, **options: object) -> Ran:
    """The same, waited for."""
    process = start(*arguments, cwd=cwd, **options)
    out, err = process.communicate(stdin, timeout=120)
    return Ran(process.returncode, (out or b"").decode(), (err or b"").decode())


def file_names(folder: Path) -> set[str]:
    """The names of the files and folders in a folder."""
    return {path.name for path in folder.iterdir()}
