"""A process that has the embedded models in memory, and runs each `rerank` in a fork of it: seconds less for each.

`python -P forked_commands.py ADDRESS` prints "ready", and listens at a Unix socket until its stdin is closed. A client
sends the arguments, environment and folder of its command with its stdin, stdout and stderr. A fork takes them over and
runs the command; its exit code is the answer. Before the first fork, the process imports numba and the commands, reads
the embedded models, and scores a sentence with each, which loads their kernels. The plugins that read them are let go,
so that each command makes its own, with the options and the cache of its environment.
"""

import ast
import gc
import os
import select
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

CLIENT = """#!{python} -SEP
import os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    socket.send_fds(server, [repr((sys.argv, dict(os.environ), os.getcwd())).encode()], [0, 1, 2])
    server.shutdown(socket.SHUT_WR)
    code = server.recv(1)
sys.exit(code[0] if code else "the process that forks commands has ended")
"""


@contextmanager
def forking(python: Path, environment: Mapping[str, str], folder: Path) -> Iterator[Path]:
    """In the block, the folder has a program `rerank` that runs in forks of a process of that Python."""
    address, client = folder / "socket", folder / "rerank"
    client.write_text(CLIENT.format(python=python, address=str(address)), encoding="utf-8")
    client.chmod(0o700)
    command = [python, "-P", __file__, address]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        yield folder
        process.stdin.close()


def serve(address: str) -> None:
    """Run the commands of clients in forks until stdin is closed."""
    prepared = False
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        print("ready", flush=True)
        while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
            connection = listening.accept()[0]
            if not prepared:
                _prepare()
                prepared = True
            if os.fork() == 0:
                listening.close()
                _answer(connection)
            connection.close()
            with suppress(ChildProcessError):  # there is none
                while os.waitpid(-1, os.WNOHANG)[0]:  # has ended
                    pass


def _prepare() -> None:
    """Import what most commands need, and read the embedded models, so that forks share them."""
    os.environ["RERANK_CACHE"] = ""  # no file is to be open in forks; each has the environment of its client
    import rerank_adapters.cli  # noqa: F401
    from rerank_adapters import load
    from rerank_plugins.kit.files.languages import keep_embedded

    keep_embedded()
    words = ("it", "rains", ".")
    for name in ("unigram", "dependency-lm", "treelet-lm", "hhmm-lm"):
        load(name, "language_model").totals([words])
    load("svs", "parser").parse([words])
    gc.collect()
    gc.freeze()


def _answer(connection: socket.socket) -> NoReturn:
    """In a fork, which waits for the command: send its exit code, as a shell would give it."""
    request, descriptors, _, _ = socket.recv_fds(connection, 1 << 16, 3)
    while more := connection.recv(1 << 16):
        request += more
    command = os.fork()
    if command == 0:
        connection.close()
        _run(*ast.literal_eval(request.decode()), descriptors)
    code = os.waitstatus_to_exitcode(os.waitpid(command, 0)[1])
    connection.sendall(bytes([code if code >= 0 else 128 - code]))
    os._exit(0)


def _run(arguments: list[str], environment: dict[str, str], folder: str, descriptors: list[int]) -> NoReturn:
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = arguments
    from rerank_adapters.cli.main import main

    main()


if __name__ == "__main__":
    serve(sys.argv[1])
