"""The shape of the house: no circles of imports, packages import fast, modules are small and well named."""

import ast
import json
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import rerank_plugins

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted([*(ROOT / "rerank_plugins").rglob("*.py"), *(ROOT / "adapters").rglob("*.py")])
HEAVY = {
    "stanza",
    "torch",
    "transformers",
    "matplotlib",
    "kenlm",
    "sacrebleu",
    "sacremoses",
    "numba",
    "sklearn",
    "scipy",
}
VAGUE = {"utils", "util", "helpers", "helper", "common", "misc", "tools", "shared"}
LONGEST = 400
MARK = re.compile(r"\b(njit|(filling_)?kernel|part)\b")  # in the decorator of a kernel
BY_SCIPY = re.compile(r"np\.(vdot|matmul|inner|linalg|cov|corrcoef|roots)|.*\.dot")  # compiled by way of its BLAS


def imported(module: str) -> set[str]:
    """Top-level packages in memory after importing a module in a fresh interpreter."""
    script = f"import sys, json, {module}; print(json.dumps(sorted({{name.split('.')[0] for name in sys.modules}})))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(json.loads(ran.stdout))


def test_no_modules_import_each_other_in_a_circle():
    """Imports within functions count, those for type checkers alone do not."""
    grimp = pytest.importorskip("grimp")
    graph = grimp.build_graph("rerank_plugins", "rerank_adapters", exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    TopologicalSorter(imports).prepare()  # raises CycleError, which names the circle


@pytest.mark.parametrize("module", ["rerank_plugins", "rerank_adapters", "rerank_adapters.cli.main"])
def test_importing_loads_nothing_heavy(module):
    assert imported(module) & HEAVY == set()


def test_contract_checks_load_neither_kernels_nor_commands():
    """Plugin authors are promised that the checks pull in nothing else; every import of ours is of a lower layer."""
    assert imported("rerank_plugins.testing") & (HEAVY | {"click", "pydantic", "rich", "rerank_adapters"}) == set()


def test_help_needs_no_numpy():
    script = "from rerank_adapters.cli.main import main; main(['--help'])"
    watched = f"import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); {script}"
    ran = subprocess.run([sys.executable, "-c", watched], capture_output=True, text=True, check=True, cwd=ROOT)
    assert ran.stdout.startswith("Usage: rerank")
    assert "rerank_adapters.cli.main" in ran.stderr.split()
    assert "numpy" not in ran.stderr.split()


def test_every_public_name_has_its_module():
    assert sorted(rerank_plugins._MODULES) == sorted(rerank_plugins.__all__) == dir(rerank_plugins)
    assert [name for name in rerank_plugins.__all__ if not hasattr(rerank_plugins, name)] == []
    with pytest.raises(AttributeError, match="has no attribute 'Parsers'"):
        rerank_plugins.Parsers  # noqa: B018


def test_a_registry_imports_no_plugin_until_it_is_used():
    script = """if True:
        import sys
        from rerank_adapters.builtin import BUILTIN
        from rerank_plugins.core.loader import load_plugins
        from rerank_plugins.core.plugins import BUILTIN as FAMILIES
        registry = load_plugins(BUILTIN)
        rooms = tuple(f"{name}." for name in (*FAMILIES, *BUILTIN) if "." in name)
        print(*(name for name in sys.modules if name.startswith(rooms)))
        registry.get("feature", "length").options()
        print(*(name for name in sys.modules if name.startswith("rerank_plugins.lists.")))
        print(*sys.modules)"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    registered, used, everything = (set(line.split()) for line in ran.stdout.splitlines())
    others = {name for name in registered if not name.endswith(".plugin")}
    assert all(name.startswith("rerank_adapters.formats.") for name in others)  # the catalogue is a table of objects
    assert used == {"rerank_plugins.lists.plugin", "rerank_plugins.lists.length"}
    assert everything & HEAVY == set()


@pytest.mark.parametrize("family", ["lists", "treelet", "substitutes"])
def test_families_are_what_a_plugin_author_could_write(family):
    """They need the exported names, the kit, themselves, the families that the contract declares; threads, caches and ln 10."""
    declared = ("rerank_plugins.kit", f"rerank_plugins.{family}", "rerank_plugins.constituency", "rerank_plugins.ngram",
                "rerank_plugins.core.threads", "rerank_plugins.core.files", "rerank_plugins.core.logarithms")  # fmt: skip
    for path in (ROOT / "rerank_plugins" / family).rglob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        modules = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
        ours = {module for module in modules if module.startswith("rerank_plugins.")}
        assert {module for module in ours if not module.startswith(declared)} == set(), path


def takers_of_a_job(source: str) -> list[str]:
    """The functions with a parameter annotated `Job` that are no commands, which get theirs from the shared options."""
    taking = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
            is_command = any(re.fullmatch(r"(options\.)?job_options\(.*\)", decorator) for decorator in decorators)
            given = [argument.annotation for argument in ast.walk(node.args) if isinstance(argument, ast.arg)]
            annotations = [ast.unparse(annotation) for annotation in given if annotation is not None]
            if not is_command and any(re.search(r"\bJob\b", annotation) for annotation in annotations):
                taking.append(node.name)
    return taking


def test_functions_behind_the_doors_do_not_take_a_job():
    """They take lists, features, measures, weights, names, settings; only the doors, and `run`, know a job."""
    assert takers_of_a_job('def f(a, job: Job): ...\nasync def g(*, job: "job.Job | None" = None): ...') == ["f", "g"]
    assert takers_of_a_job("@click.command()\n@options.job_options('jobs')\ndef command(job: Job): ...") == []
    adapters = ROOT / "adapters" / "rerank_adapters"
    doors = tuple(adapters / room for room in ("run", "api", "cli", "job"))
    behind = [path for path in SOURCES if not any(path.is_relative_to(door) for door in doors)]
    found = {str(path.relative_to(ROOT)): takers_of_a_job(path.read_text(encoding="utf-8")) for path in behind}
    assert len(found) > 300
    assert {name: functions for name, functions in found.items() if functions} == {}


def test_adapters_is_a_source_root_not_a_package():
    assert not (ROOT / "adapters" / "__init__.py").exists()


def faults(path: Path) -> list[str]:
    """What is wrong with the form of a module."""
    text = path.read_text(encoding="utf-8")
    wrong = {
        "its name says nothing": path.stem in VAGUE,
        f"it has more than {LONGEST} lines": len(text.splitlines()) > LONGEST,
        "it does not start with what it is": not text.startswith(('"""', 'r"""')),
    }
    return [reason for reason, is_so in wrong.items() if is_so]


def test_modules_are_small_and_say_what_they_hold(tmp_path):
    """One test for all, as there are very many."""
    assert len(SOURCES) > 300
    assert {str(path.relative_to(ROOT)): faults(path) for path in SOURCES if faults(path)} == {}
    (tmp_path / "utils.py").write_text("import sys\n" * (LONGEST + 1))
    assert len(faults(tmp_path / "utils.py")) == 3


def products(source: str) -> list[str]:
    """The expressions in kernels that numba computes by the BLAS of SciPy, whose last digits differ between processors."""
    functions = (each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.FunctionDef))
    kernels = (each for each in functions if any(MARK.search(ast.unparse(m)) for m in each.decorator_list))
    return [
        ast.unparse(node)
        for kernel in kernels
        for node in ast.walk(kernel)
        if (isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult))
        or (isinstance(node, ast.Attribute) and BY_SCIPY.fullmatch(ast.unparse(node)))
    ]


def test_kernels_do_without_scipy():
    kernel = "@{}\ndef f(a, b):\n    return {}\n"
    for mark in ("njit(cache=True)", "kernel", "partial(kernel, fastmath=True)", "part"):
        assert products(kernel.format(mark, "a @ b + np.dot(a, b)")) == ["a @ b", "np.dot"]
    assert products(kernel.format("part", "a.dot(b) + np.linalg.det(np.inner(a, b))")) == [
        "a.dot",
        "np.linalg",
        "np.inner",
    ]
    assert products(kernel.format("part", "a.inner * b")) == products("def f(a, b):\n    return a @ b\n") == []
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in SOURCES}
    found = {name: products(text) for name, text in texts.items() if MARK.search(text)}
    assert len(found) > 50
    assert {name: expressions for name, expressions in found.items() if expressions} == {}
