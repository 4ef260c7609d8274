"""The Dockerfile: it is sent only what the wheel needs, and an image that runs the command line."""

import shutil
import subprocess
import tomllib

import pytest

from rerank_plugins import __version__
from tests.conftest import ROOT

SENT = [line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line[0] == "!"]


def docker(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["docker", *args], cwd=ROOT, capture_output=True, check=False, text=True)


def test_what_is_sent_to_docker_holds_all_that_a_wheel_takes():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    wanted = [*wheel["packages"], *wheel["force-include"], *project["project"]["license-files"]]
    wanted += ["pyproject.toml", "constraints.txt", project["project"]["readme"]]
    assert all((ROOT / path).exists() for path in SENT)
    assert [path for path in wanted if not any(path == sent or path.startswith(f"{sent}/") for sent in SENT)] == []


@pytest.mark.release
def test_the_image_runs_the_command_line():
    if shutil.which("docker") is None or docker("info").returncode:
        pytest.skip("docker is not installed, or its daemon does not run")
    built = docker("build", "--quiet", "-t", "rerank-test", ".")
    if built.returncode and "resolve" in built.stderr:
        pytest.skip("no network for the base image")
    assert built.returncode == 0, built.stderr
    assert docker("run", "--rm", "rerank-test", "--version").stdout == f"rerank, version {__version__}\n"
