"""Shared fixtures, and which tests are run when.

Real data that lie beside the repository are used before a release; users do not have them.
"""

import gc
import os
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

# Tests start many processes, each of which would compile the sources again; so this process keeps what it imports below.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

from rerank_plugins.core.files import KERNELS, default_cache_folder

# Tests have caches of their own, but kernels where commands have them.
os.environ.setdefault("NUMBA_CACHE_DIR", str(default_cache_folder() / KERNELS))

import pytest
from hypothesis import settings

from rerank_adapters.cli.main import relax_gc
from rerank_plugins.core.dependency_tree import DependencyTree, read_conllu
from rerank_plugins.kit.files.languages import keep_embedded
from tests.command_line import BLEU, done

# Kernels compile and models load within the first example. The numbers are for tests that set none.
settings.register_profile("default", deadline=None, max_examples=30)
settings.register_profile("release", deadline=None, max_examples=100)  # pytest --hypothesis-profile=release
settings.load_profile("default")

# As under `make`: each process of the tests has one core, and threads that wait for others would take the rest.
os.environ.setdefault("OMP_NUM_THREADS", "1")

keep_embedded()  # many tests use the embedded models
relax_gc()  # as commands do

# A shell's background job ignores interrupts, a job of nohup hang-ups, and so would the processes that tests start and
# signal.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

ROOT = Path(__file__).resolve().parent.parent
SHARED_DATA = ROOT.parent / "shared" / "data"
# Subpackages whose tests compile hardly any kernel of the families, and files that take long by a few tests.
FEW_KERNELS = {
    *("apply", "commands", "doors", "evaluation", "formats", "metrics", "report", "run", "runtime", "text", "tuners")
}
LONG = {f"test_{name}.py" for name in ("processors", "decoding_packages", "stanza_parser", "site")}
DECODER_FEATURES = (
    "Distortion0",
    "LM0",
    "WordPenalty0",
    "PhrasePenalty0",
    *(f"TranslationModel0_{i}" for i in range(4)),
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark benchmarks and tests on data that users lack, mark as slow what is run by itself alone, and order the files.

    Each process takes the next file when it has done one, and machine code of one is there for the other. So one
    begins with a file that compiles most kernels of the families, the other with subpackages that need hardly any of
    them. Then come files that take long, so that both processes end together.
    """
    for item in items:
        if item.path.parent.name == "bench":
            item.add_marker(pytest.mark.bench)
        elif "shared_data" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.release)
        if item.get_closest_marker("release") or item.get_closest_marker("bench"):
            item.add_marker(pytest.mark.slow)  # also for who asks for `-m "not slow"`
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    compiling = "test_readme.py" if config.option.markexpr.startswith("release") else "test_contracts.py"

    def place(item: pytest.Item) -> tuple[bool, bool, bool, int]:
        path = item.path
        few_kernels = path.parent.name in FEW_KERNELS
        return path.name != compiling, not few_kernels, path.name not in LONG, -slow[path]

    items.sort(key=place)


def pytest_collection_finish() -> None:
    """Leave modules and tests, which stay until the end, out of all collections of garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What tests parse is kept apart from what the user has parsed."""
    os.environ["RERANK_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def treebank_path() -> Path:
    """A hundred short sentences with trees made by hand."""
    return ROOT / "tests" / "treebank" / "small.conllu"


@pytest.fixture(scope="session")
def treebank(treebank_path: Path) -> list[DependencyTree]:
    with open(treebank_path, encoding="utf-8") as lines:
        return list(read_conllu(lines, str(treebank_path)))


@pytest.fixture(scope="session")
def stanza_trained(treebank_path: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    """Micro models of Stanza, in some 9 seconds of CPU: tagger, dependency parser, constituency parser, word vectors."""
    from tests.dependency.micro_parsers import train_stanza

    return train_stanza(treebank_path, tmp_path_factory.mktemp("stanza"))


@pytest.fixture(scope="session")
def stanza_models(stanza_trained: tuple[Path, ...]) -> tuple[Path, ...]:
    """Tagger and dependency parser."""
    return stanza_trained[:2]


@pytest.fixture(scope="session")
def stanza_constituency(stanza_trained: tuple[Path, ...]) -> tuple[Path, ...]:
    """Constituency parser and its word vectors."""
    return stanza_trained[2:]


@pytest.fixture(scope="session")
def kenlm() -> Any:
    """The module of KenLM, for tests that compare with it."""
    return pytest.importorskip("kenlm", reason="KenLM is not installed (tests/install_kenlm.sh)")


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    if not SHARED_DATA.is_dir():
        pytest.skip(f"no data at {SHARED_DATA}")
    return SHARED_DATA


@pytest.fixture(scope="session", params=["example", pytest.param("tatoeba", marks=pytest.mark.release)])
def real_lists(request: pytest.FixtureRequest) -> dict[str, tuple[Path, Path]]:
    """A decoder's n-best lists (Moses) and their references, to tune on and to test on: ours, and those beside us."""
    if request.param == "example":
        example = ROOT / "example_nbest" / "mt"
        return {part: (example / f"{part}.nbest", example / f"{part}.en") for part in ("tune", "test")}
    folder = request.getfixturevalue("shared_data") / "mt_nbest_tatoeba_de_en"
    return {part: (folder / f"{part}.nbest.xz", folder / f"{part}.ref") for part in ("tune", "test")}


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the first 20 segments × 10 hypotheses of the example (tune.*, test.*), and its language model."""
    folder = tmp_path_factory.mktemp("small")
    example = ROOT / "example_nbest" / "mt"
    for name in ("tune", "test"):
        lists: dict[str, list[str]] = {}
        for line in (example / f"{name}.nbest").read_text(encoding="utf-8").splitlines(keepends=True):
            lists.setdefault(line.split(" ")[0], []).append(line)
        lines = [line for id_ in list(lists)[:20] for line in lists[id_][:10]]
        (folder / f"{name}.nbest").write_text("".join(lines), encoding="utf-8")
        for language in ("de", "en"):
            text = (example / f"{name}.{language}").read_text(encoding="utf-8").splitlines(keepends=True)
            (folder / f"{name}.{language}").write_text("".join(text[:20]), encoding="utf-8")
    (folder / "lm.arpa").write_bytes((example / "lm.arpa").read_bytes())
    return folder


@pytest.fixture(scope="session")
def tuned(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of the tuning lists, and weights tuned on it."""
    folder = tmp_path_factory.mktemp("tuned")
    features = (
        "-f",
        "length",
        "-f",
        "consensus",
        "-f",
        f"ngram-lm,label=lm,model={small}/lm.arpa",
    )
    done("extract", small / "tune.nbest", "--source", small / "tune.de", *features, "-o", folder / "tune.npz")
    done(
        *("tune", small / "tune.nbest", "--table", folder / "tune.npz", "-r", small / "tune.en", *BLEU),
        *("-t", "mira,passes=10", "-o", folder / "weights.toml"),
    )
    return folder
