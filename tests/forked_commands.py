"""A process that has imported numpy and numba, and runs each `rerank` in a fork of it: half a second less for each.

`python -P forked_commands.py ADDRESS` imports them, prints "ready", and listens at a Unix socket until its stdin is
closed. A client sends the arguments, environment and folder of its command with its stdin, stdout and stderr. A fork
takes them over, imports rerank_adapters and all that it needs as a process of its own would, and runs the command; its
exit code is the answer.
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
    import numba

    numba.njit(lambda number: number)(1)  # it loads what all kernels need
    gc.freeze()  # so that forks share it
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        print("ready", flush=True)
        while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
            connection = listening.accept()[0]
            if os.fork() == 0:
                listening.close()
                _answer(connection)
            connection.close()
            with suppress(ChildProcessError):  # there is none
                while os.waitpid(-1, os.WNOHANG)[0]:  # has ended
                    pass


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
    from rerank_adapters.cli import main

    main()


if __name__ == "__main__":
    serve(sys.argv[1])
