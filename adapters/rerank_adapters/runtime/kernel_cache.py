"""Where numba keeps compiled kernels, how it writes errors, and what the user is told while it compiles.

They are kept beside the source, in a folder for each contents of it (kit/machine_code), the last few of which stay.
Where the source cannot be written to (a system-wide installation, a container), the command line sets
`NUMBA_CACHE_DIR`, which worker processes inherit, to `kernels` in the program's cache or, without one, to a temporary
folder, which the end of the process removes.

numba unpickles what it finds there, so that whoever can write to the folder can run code as the user. A folder is
therefore used only if it and the folders above it belong to the user or to root, and nobody else may write to them, as
OpenSSH has it for its keys. Folders such as /tmp, where everybody may write but nobody may remove what is another's
(the sticky bit), may be above it.
"""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import rerank_plugins
from rerank_plugins.core.files import KERNELS, cache_folder

VARIABLE = "NUMBA_CACHE_DIR"
PLAIN = "NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING"
KEPT = 8  # folders of machine code, one for each contents of the source (kit/machine_code)
BESIDE = Path(rerank_plugins.__file__).parent / "__pycache__"
logger = logging.getLogger(__name__)


def write_plain_errors() -> None:
    """Let numba write its errors without colours, before it is imported.

    It makes some thousand errors for each kernel, of attempts that another attempt follows, and colours are a thirtieth
    of the time of compilation.
    """
    os.environ.setdefault(PLAIN, "1")


def choose_folder() -> None:
    """Set the variable of the folder where it is needed, before numba is imported."""
    named = os.environ.get(VARIABLE)
    if named:
        folder, usable = Path(named), shared_with_others(Path(named)) is None
    else:
        folder, usable = BESIDE, _usable(BESIDE)
    if usable:
        if not named:
            _forget_old(folder)
        return
    cache = None if named else cache_folder()
    if cache is not None:
        folder = cache / KERNELS
    if cache is None or not _usable(folder):
        cache = _temporary(folder)
    os.environ[VARIABLE] = str(cache / KERNELS)


def shared_with_others(folder: Path) -> Path | None:
    """The folder, or one above it, to which others than this user and root may write; None if there is none."""
    if not hasattr(os, "geteuid"):
        return None
    folder = Path(os.path.abspath(folder))
    for place in (folder, *folder.parents):
        try:
            status = place.stat()
        except OSError:  # it will be made, in one of the others
            continue
        others = status.st_mode & stat.S_IWOTH or (status.st_mode & stat.S_IWGRP and not _is_own_group(status.st_gid))
        sticky = status.st_mode & stat.S_ISVTX and place != folder
        if status.st_uid not in (0, os.geteuid()) or (others and not sticky):
            return place
    return None


def _is_own_group(number: int) -> bool:
    """Whether a group is that which many systems make for each user alone."""
    import grp
    import pwd

    try:
        group, user = grp.getgrgid(number), pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    return number == user.pw_gid and group.gr_name == user.pw_name and not {*group.gr_mem} - {user.pw_name}


def _temporary(refused: Path) -> Path:
    """A folder for this run alone, in place of one that was refused, of which a line says why."""
    import tempfile

    folder, owner = Path(tempfile.mkdtemp(prefix="rerank-kernels-")), os.getpid()

    def remove() -> None:
        if os.getpid() == owner:  # and not a fork
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    if (shared := shared_with_others(refused)) is not None:
        why = f"{shared}: others may write there, and so run code as you: compiled kernels in {refused} are not used"
    else:
        why = f"{refused}: cannot be written"
    logger.warning("%s; kernels are compiled for this run only (RERANK_CACHE may name a folder for them)", why)
    return folder


def _usable(folder: Path) -> bool:
    """Whether kernels can be kept in a folder, which is made where it is not there, and nobody else can put some in."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK) and shared_with_others(folder) is None


def compiled() -> list[str]:
    """Names of the kernels that this process has compiled, or is compiling; none where it has not imported numba."""
    kernels: Any = sys.modules.get("rerank_plugins.kit.kernels")
    names: list[str] = kernels.compiled() if kernels else []
    return names


def _forget_old(folder: Path) -> None:
    """Remove the machine code of other contents of the source, but for that which was begun last."""
    with suppress(FileNotFoundError):  # another process may remove them, too
        begun = {each: each.stat().st_mtime for each in folder.glob(f"{KERNELS}-*")}
        for old in sorted(begun, key=lambda each: -begun[each])[KEPT:]:
            shutil.rmtree(old, ignore_errors=True)
