"""The wheel and the sdist: whole, and a wheel that is installed alone runs from where it was installed."""

import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile

import pytest

from rerank_adapters.applications.new_plugin import FILES
from rerank_adapters.cli.demo import CONFIG, NAMES
from tests.conftest import ROOT

pytestmark = pytest.mark.release
PACKAGES = {"rerank_plugins": ROOT, "rerank_adapters": ROOT / "adapters"}
MAX_WHEEL_BYTES = 55_000_000
TOP_LEVEL = ("LICENSE", "Makefile", "NOTICE", "README.md", "SECURITY.md", "constraints.txt", "pyproject.toml")


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    """The folder in which the wheel and the sdist are."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", folder],
        cwd=ROOT,
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder


def sources():
    """The files of the packages, as paths in the wheel."""
    return {
        path.relative_to(root).as_posix()
        for package, root in PACKAGES.items()
        for path in (root / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".pyc", ".tmp")
    }


def test_the_wheel_holds_the_packages_and_nothing_else(distributions):
    """A package called `adapters` at its top would break those of others."""
    (wheel,) = distributions.glob("*.whl")
    assert wheel.stat().st_size <= MAX_WHEEL_BYTES
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = next(name for name in names if name.endswith("METADATA"))
        text = archive.read(metadata).decode()
    example = {f"rerank_adapters/example/{name}" for name in (CONFIG, *NAMES, *(f"plugin/{file}" for file in FILES))}
    assert {name for name in names if ".dist-info/" not in name} == sources() | example
    assert all(any(name.endswith(f"licenses/{file}") for name in names) for file in ("LICENSE", "NOTICE"))
    versions = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"]
    assert all(f"Classifier: {classifier}\n" in text for classifier in versions)


def test_the_sdist_holds_all_that_the_tests_and_the_documentation_need(distributions):
    (sdist,) = distributions.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names >= {*TOP_LEVEL, "configs/mt.toml", "docs/tour.md", "tests/conftest.py", "example_nbest/mt/tune.nbest"}
    assert {name.removeprefix("adapters/") for name in names} >= sources()


def test_an_installed_wheel_runs(distributions, tmp_path):
    """The environment has the wheel alone; the libraries come from this one, and no editable installation does."""
    (wheel,) = distributions.glob("*.whl")
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    python = environment / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python]
    done = subprocess.run(
        [*pip, "install", "--no-deps", "--no-index", wheel], capture_output=True, check=False, text=True
    )
    if "No module named pip" in done.stderr:
        pytest.skip("there is no pip")
    assert done.returncode == 0, done.stderr
    (libraries,) = environment.glob("lib/python*/site-packages")
    (libraries / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")

    def run(*arguments):
        done = subprocess.run(
            arguments,
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin", "RERANK_CACHE": ""},
            capture_output=True,
            check=False,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    rerank = environment / "bin" / "rerank"
    assert run(python, "-c", "import rerank_plugins; print(rerank_plugins.__file__)").startswith(str(libraries))
    assert run(rerank, "--version").startswith("rerank, version ")
    assert "dependency-lm" in run(rerank, "plugins")
    shutil.copytree(ROOT / "example_nbest" / "mt", tmp_path / "mt")
    run(rerank, "extract", "mt/tune.nbest", "-f", "length", "-f", "unigram", "-j", "1", "-o", "tune.npz")
    assert (tmp_path / "tune.npz").stat().st_size > 400_000
