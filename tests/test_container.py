"""The Dockerfile, the compose files and the workflows, as far as they can be read here: what they name is there."""

from __future__ import annotations

import fnmatch
import http.server
import json
import re
import subprocess
import sys
import threading
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from shotad.cli.main import cli

ROOT = Path(__file__).resolve().parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def instruction(pattern: str) -> list[str]:
    """The words of the Dockerfile's one instruction of the form ``pattern ["word", …]``."""
    (words,) = re.findall(rf"^{pattern} (\[.*\])$", DOCKERFILE, re.MULTILINE)
    command: list[str] = json.loads(words)
    return command


def compose(name: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))
    return content


def test_the_container_starts_with_a_command_that_there_is() -> None:
    assert instruction("ENTRYPOINT") == ["shotad"]
    result = CliRunner().invoke(cli, [*instruction("CMD"), "--help"])
    assert result.exit_code == 0, result.output


def test_the_page_is_published_on_this_machine_alone_at_its_own_number() -> None:
    command = instruction("CMD")
    port = command[command.index("--port") + 1]
    assert compose("compose.yaml")["services"]["shotad"]["ports"] == [f"127.0.0.1:{port}:{port}"]
    assert f"EXPOSE {port}\n" in DOCKERFILE


def test_extras_of_the_images_are_extras() -> None:
    extras = re.findall(r"^ARG EXTRAS=(.*)$", DOCKERFILE, re.MULTILINE)
    extras.append(compose("compose.cuda.yaml")["services"]["shotad"]["build"]["args"]["EXTRAS"])
    for names in extras:
        assert set(names.split(",")) <= set(PROJECT["project"]["optional-dependencies"])


def test_what_the_package_is_built_from_reaches_the_build() -> None:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    kept = [line[1:] for line in lines if line.startswith("!")]
    build = PROJECT["tool"]["hatch"]
    needed = [
        *PROJECT["project"]["license-files"],
        *build["build"]["targets"]["wheel"]["packages"],
        *build["build"]["targets"]["wheel"]["force-include"],
        build["metadata"]["hooks"]["custom"]["path"],
        build["version"]["path"],
        "README.md",
        "constraints.txt",
        "pyproject.toml",
    ]
    for path in needed:
        assert (ROOT / path).exists(), path
        folders = [path, *(str(folder) for folder in Path(path).parents)]
        assert any(fnmatch.fnmatch(folder, name) for folder in folders for name in kept), path


class _Unauthorised(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(401)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


@pytest.mark.parametrize("serving", [True, False])
def test_health_is_an_answer(serving: bool) -> None:
    program, *words = instruction(r"HEALTHCHECK .*CMD")
    assert program == "python"
    with http.server.HTTPServer(("localhost", 0), _Unauthorised) as server:
        port = str(server.server_port)
        if serving:
            threading.Thread(target=server.serve_forever, daemon=True).start()
        else:
            server.server_close()
        asked = [word.replace("8477", port) for word in words]
        done = subprocess.run([sys.executable, *asked], capture_output=True, check=False)
        if serving:
            server.shutdown()
    assert (done.returncode == 0) is serving


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_run_what_there_is_by_actions_of_one_content(path: Path) -> None:
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values()
    steps = [step for job in jobs for step in job["steps"]]
    assert steps
    for step in steps:
        # A tag can be moved to other content; a commit cannot.
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step.get("uses", f"a/b@{'0' * 40}"))
        for script in re.findall(r"(?:^|\s)((?:tools|\.ci)/[\w-]+)", step.get("run", "")):
            assert (ROOT / script).is_file(), script


def test_every_python_that_the_package_names_is_tested() -> None:
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    assert PROJECT["project"]["requires-python"] == f">={named[0]},<3.{int(named[-1][2:]) + 1}"
    jobs = yaml.safe_load((ROOT / ".github/workflows/checks.yml").read_text(encoding="utf-8"))["jobs"]
    tested = {
        step["with"]["python-version"]
        for step in jobs["systems"]["steps"]
        if "python-version" in step.get("with", {})
    }
    assert tested | set(jobs["pythons"]["strategy"]["matrix"]["python"]) == set(named)
    assert any(step.get("run") == "bash .ci/run" for step in jobs["systems"]["steps"])
