"""Changes formulas one at a time, and names the changes that no fast test notices.

    python -m tests.mutations                                    every 25th change to the modules with formulas
    python -m tests.mutations rerank_plugins/hhmm --every 5      every fifth change to the formulas of one subpackage
    python -m tests.mutations rerank_plugins/ngram/mixture.py --every 1 --line 43

tests/mutating/formulas.py says what is changed. The changes are made in a copy of the repository in a temporary folder,
where the tests run as plain Python (NUMBA_DISABLE_JIT=1), for numba would compile all kernels again after each change.
The tests of a module are those of its subpackage. All others that import it are tried for the kit, and for changes that
its own tests do not reach. tests/mutating/runner.py runs those that reach the change, the fastest first. A change that
takes longer than they do counts as noticed. Tests that take more than 6 s as plain Python are left out, so that a
change which only these reach is printed as unreached; `--tests` names other tests for it.

The table has one line for each change that survives, then the numbers of all changes by tests. Changes to a line with a
comment `# equal: REASON` make no difference and are not tried. The exit code is 1 if a change survives.

Two libraries do not do this: mutmut leaves out all functions with decorators, which kernels have, and cosmic-ray has
eleven changes for each operator, those in annotations included, but none for `min`, `log` or `argmax`, and starts a new
process for each, which takes longer than most of our tests.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

import click

from tests.mutating.formulas import Mutation, mutations

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("rerank_plugins", "adapters/rerank_adapters")
# Subpackages without formulas: interfaces, formats, what is printed, and what is only checked.
WITHOUT_FORMULAS = ("core", "testing", "resources", "neural", "kit/files")
WITH_FORMULAS = ("metrics", "tuners", "evaluation", "tuning", "data", "run", "applications", "weights")
KIT = "rerank_plugins/kit/"  # its users test it
TESTED_BY = {  # other tests than those of the subpackage: patterns of files and folders in tests/
    KIT + "backoff": "ngram",
    KIT + "charts": "constituency",
    "adapters/rerank_adapters/applications/mbr": "python_api/test_mbr.py",
    "adapters/rerank_adapters/applications/negatives": "applications/test_negatives.py",
    "adapters/rerank_adapters/applications/language_models": "applications/test_scoring_commands.py",
}
IGNORED = shutil.ignore_patterns(".*", "__pycache__", "work", "build", "dist")


def modules(paths: tuple[str, ...], root: Path) -> list[Path]:
    """The modules of some files and folders; without any, all modules of the subpackages with formulas."""
    if not paths:
        families = sorted((root / "rerank_plugins").iterdir())
        without = {root / "rerank_plugins" / name for name in WITHOUT_FORMULAS}
        chosen = [each for each in families if each.is_dir() and each not in without]
        chosen += [root / "adapters/rerank_adapters" / name for name in WITH_FORMULAS]
        files = [file for each in chosen for file in sorted(each.rglob("*.py"))]
        return [file for file in files if not any(folder in file.parents for folder in without)]
    found = [root / path for path in paths]
    return [file for path in found for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])]


def room(path: str, root: Path) -> str:
    """The tests of a module as a pattern in tests/: those of its subpackage, its application, or its main user."""
    for start, name in TESTED_BY.items():
        if path.startswith(start):
            return name
    parts = Path(path).with_suffix("").parts
    name = parts[2] if parts[0] == "adapters" else parts[1]
    if name != "applications":
        return name
    own = f"{name}/test_{parts[3]}*.py"
    return own if any(root.glob(f"tests/{own}")) else parts[3] if (root / "tests" / parts[3]).is_dir() else name


def tests_of(name: str, root: Path) -> list[str]:
    """The files and folders of tests that a pattern stands for."""
    return sorted(each.relative_to(root).as_posix() for each in root.glob(f"tests/{name}"))


def importing(paths: Iterable[str], root: Path, others: list[str]) -> list[str]:
    """The files of tests that import one of some modules, besides some other files and folders."""
    files = {file for path in paths for file in _importing(path, root)}
    return sorted(file for file in files if not any(file == other or file.startswith(f"{other}/") for other in others))


def _importing(path: str, root: Path) -> Iterator[str]:
    parts = Path(path).with_suffix("").parts
    parts = parts[1:] if parts[0] == "adapters" else parts
    package, module = ".".join(parts[:-1]), parts[-1]
    pattern = re.compile(rf"^\s*from {re.escape(package)}(\.{module} import|\b import .*\b{module}\b)", re.MULTILINE)
    for file in sorted((root / "tests").glob("*/test_*.py")):
        if file.parent.name != "bench" and pattern.search(file.read_text(encoding="utf-8")):
            yield file.relative_to(root).as_posix()


def copied(root: Path, folder: Path) -> Path:
    """A copy of the repository's sources, tests and examples."""
    return Path(shutil.copytree(root, folder / "copy", ignore=IGNORED))


def outcomes(found: list[Mutation], tests: list[str], copy: Path, seconds: float) -> Iterator[dict[str, str]]:
    """What came of each mutation, by the tests in the copy."""
    if not (found and tests):
        yield from ({"outcome": "unreached", "by": ""} for _ in found)
        return
    paths = os.pathsep.join(str(path) for path in (copy, copy / "adapters"))
    environment = os.environ | {"PYTHONPATH": paths, "NUMBA_DISABLE_JIT": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.mutating.runner"]
    task = json.dumps({"tests": tests, "seconds": seconds, "mutations": [asdict(each) for each in found]})
    with subprocess.Popen(
        command, cwd=copy, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(task)
        process.stdin.close()
        first = json.loads(process.stdout.readline() or "{}")
        click.echo(f"{' '.join(tests)}: {first.get('tests', 0)} tests, {first.get('seconds', 0):.0f} s", err=True)
        for test in first.get("left_out", ()):
            click.echo(f"left out, for it fails or takes too long without a change: {test}", err=True)
        yield from map(json.loads, process.stdout)
    if process.returncode:
        raise click.ClickException(f"the tests of {' '.join(tests)} could not be run")


def tried(
    group: list[Mutation], name: str, tests: tuple[str, ...], root: Path, copy: Path, seconds: float
) -> Iterator[tuple[Mutation, str, str]]:
    """What came of mutations with the same tests, and which test noticed: one of these, or else one that imports it."""
    own = list(tests) or tests_of(name, root)
    own += [] if tests else importing({each.path for each in group if each.path.startswith(KIT)}, root, own)
    unreached = []
    for each, outcome in zip(group, outcomes(group, own, copy, seconds), strict=True):
        if outcome["outcome"] == "unreached":
            unreached.append(each)
        else:
            yield each, outcome["outcome"], outcome["by"]
    others = [] if tests else importing({each.path for each in unreached}, root, own)
    for each, outcome in zip(unreached, outcomes(unreached, others, copy, seconds), strict=True):
        yield each, outcome["outcome"], outcome["by"]


def summary(counts: dict[str, Counter[str]]) -> Iterator[str]:
    """The numbers of mutations by tests; those that are equivalent are not tried."""
    columns = ("tried", "killed", "survived", "unreached", "equivalent")
    rows = counts | {"all": sum(counts.values(), Counter())}
    width = max(map(len, rows))
    yield f"{'tests':<{max(width, 10)}}  " + "  ".join(columns)
    for name, row in rows.items():
        row["tried"] = row["killed"] + row["survived"] + row["unreached"]
        yield f"{name:<{max(width, 10)}}  " + "  ".join(f"{row[each]:>{len(each)}}" for each in columns)


@click.command(help=__doc__.split("\n\n")[0])
@click.argument("paths", nargs=-1, metavar="[FILE_OR_FOLDER]...")
@click.option("--every", default=25, show_default=True, help="Try one of so many changes.")
@click.option("--offset", default=0, show_default=True, help="Begin with that change, counted from 0.")
@click.option("--line", "lines", multiple=True, type=int, help="Only changes to this line; may be repeated.")
@click.option("--tests", multiple=True, metavar="FILE", help="Only these tests, of all modules; may be repeated.")
@click.option("--seconds", default=10.0, show_default=True, help="The tests of a change may take so long.")
@click.option("--all", "print_all", is_flag=True, help="Also print the changes that are noticed, and by which test.")
@click.option("--root", default=ROOT, type=click.Path(path_type=Path), hidden=True)
def main(
    paths: tuple[str, ...],
    every: int,
    offset: int,
    lines: tuple[int, ...],
    tests: tuple[str, ...],
    seconds: float,
    print_all: bool,
    root: Path,
) -> None:
    """Print the changes that survive, then their numbers by subpackage."""
    found = [each for module in modules(paths, root) for each in mutations(module, root)]
    found = [each for each in found if not lines or each.line in lines][offset::every]
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    groups: dict[str, list[Mutation]] = defaultdict(list)
    for each in found:
        name = " ".join(tests) or room(each.path, root)
        counts[name]["equivalent"] += each.is_equivalent
        if not each.is_equivalent:
            groups[name].append(each)
    with tempfile.TemporaryDirectory() as folder:
        copy = copied(root, Path(folder))
        for name, group in groups.items():
            for each, outcome, by in tried(group, name, tests, root, copy, seconds):
                counts[name][outcome] += 1
                if print_all or outcome != "killed":
                    change = f"{each.old} → {each.new}"
                    click.echo(f"{outcome:<9} {each.path}:{each.line}:{each.column}  {change:<20}  {by or each.text}")
    click.echo("\n".join(summary(counts)))
    sys.exit(any(row["survived"] or row["unreached"] for row in counts.values()))


if __name__ == "__main__":
    main()
