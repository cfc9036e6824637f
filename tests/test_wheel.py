"""The wheel in a clean environment: it carries prompts, configs and manifest, describes a film and serves its page."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
import venv
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from shotad.core.shipped_files import shipped_files
from tests.media import FilmSpec, make_film
from tests.sample_run import described_sample

ROOT = Path(__file__).resolve().parent.parent

BARRED = ("PYTHONPATH", "SHOTAD_DATA", "PYTHONDONTWRITEBYTECODE")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)],
        check=True,
        capture_output=True,
    )
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def shotad(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of a clean environment in which nothing but the wheel, and what its page needs, was installed."""
    home = tmp_path_factory.mktemp("clean")
    venv.create(home)
    pip = [sys.executable, "-m", "pip", "--python", str(home / "bin" / "python"), "install", "--quiet"]
    # What is never loaded need not be compiled: that is most of the time.
    subprocess.run([*pip, "--no-compile", f"{wheel}[review]"], check=True, capture_output=True)
    return home / "bin" / "shotad"


def environment() -> dict[str, str]:
    """Nothing of this checkout is to be found by the installed program, which compiles what it loads once."""
    return {key: value for key, value in os.environ.items() if key not in BARRED}


def call(program: Path, *words: object, folder: Path = Path("/")) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(program), *map(str, words)],
        capture_output=True,
        text=True,
        env=environment(),
        cwd=folder,
        check=False,
    )


@contextmanager
def reviewing(program: Path, folder: Path) -> Iterator[str]:
    """The address, with its token, at which the installed program serves a review until the end."""
    command = [str(program), "review", str(folder), "--no-open"]
    kept = {**environment(), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=kept, cwd="/")
    assert process.stdout is not None
    try:
        told = (re.search(r"http://\S+", line) for line in process.stdout)
        address = next((match[0] for match in told if match), None)
        assert address, "the server ended before it told its address"
        yield address
    finally:
        process.terminate()
        ended = process.wait(60)
        process.stdout.close()
    assert ended == 0


def test_the_wheel_carries_all_it_needs(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("docs", "prompts", "configs", "models"):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file():
                assert f"shotad/_data/{path.relative_to(ROOT).as_posix()}" in names
    assert "shotad/py.typed" in names
    assert not [name for name in names if not name.startswith(("shotad/", "shotad-"))]
    assert not [name for name in names if "__pycache__" in name or "truths" in name]
    assert sum(entry.compress_size for entry in zipfile.ZipFile(wheel).infolist()) < 10e6


def test_the_installed_program_gives_the_files_that_a_checkout_gives(shotad: Path, tmp_path: Path) -> None:
    listed = json.loads(call(shotad, "files", "--json").stdout)["files"]
    assert [row["name"] for row in listed] == shipped_files()
    assert not [row for row in listed if not Path(row["path"]).is_relative_to(shotad.parents[1])]
    copied = call(shotad, "files", "docs/install.md", "configs/ray", "--to", "mine", folder=tmp_path)
    assert copied.returncode == 0, copied.stderr
    assert (tmp_path / "mine/docs/install.md").read_bytes() == (ROOT / "docs/install.md").read_bytes()


def test_the_installed_program_describes_a_film_and_serves_its_page(shotad: Path, tmp_path: Path) -> None:
    film, out = make_film(FilmSpec(frames=200, cuts=(100,))).path, ("--out", tmp_path / "w")
    done = call(shotad, "describe", film, *out, "--engine", "fake", "--json", "--no-sheet")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["counts"]["placed"] > 0
    without_torch = call(shotad, "describe", film, *out, "--config", "paper")
    assert without_torch.returncode == 1
    assert 'pip install "shotad[models]"' in without_torch.stderr
    with reviewing(shotad, tmp_path / "w") as address:
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        place = address.partition("?")[0]
        page = browser.open(address, timeout=60)
        assert page.url == place, "the token is taken out of the address"
        assert "main.js" in page.read().decode()
        web = ROOT / "shotad" / "review" / "web"
        for file in (path for path in web.rglob("*") if path.is_file()):
            name = file.relative_to(web).as_posix()
            assert browser.open(f"{place}web/{name}", timeout=60).read() == file.read_bytes()
        view = json.load(browser.open(f"{place}api/film", timeout=60))
        assert [line["text"] for line in view["lines"] if line["heard"]]
        with pytest.raises(urllib.error.HTTPError, match="40[13]"):
            urllib.request.urlopen(f"{place}api/film", timeout=60)


def shown_in_readme() -> list[list[str]]:
    """The lines of each block of the README that shows some."""
    blocks = re.findall(r"^```\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    found = [re.findall(r"^[\d:.]+ --> [\d:.]+ +(.+)$", block, re.MULTILINE) for block in blocks]
    return [lines for lines in found if lines]


@pytest.fixture
def here(shotad: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sample film, and what a checkout has answered about it: the installed program keeps
    that."""
    copied = call(shotad, "sample", folder=tmp_path)
    assert copied.returncode == 0, copied.stderr
    shutil.copytree(described_sample(tmp_path_factory), tmp_path / "sample.shotad")
    return tmp_path


def test_the_readmes_first_round(shotad: Path, here: Path) -> None:
    """By the embedded default, without a cast, no name is said."""
    assert "shotad sample\nshotad describe sample.mp4 " in (ROOT / "README.md").read_text("utf-8")
    plain = call(shotad, "describe", "sample.mp4", "--json", "--no-sheet", folder=here)
    assert (plain.returncode, plain.stderr) == (0, "")
    told = json.loads(plain.stdout)
    assert [line["text"] for line in told["lines"] if line["text"]] == shown_in_readme()[0]
    assert "Eileen" not in str(told["lines"])
    assert call(shotad, "export", "--check", *told["files"], folder=here).returncode == 0


@pytest.mark.long
def test_the_readmes_second_round(shotad: Path, here: Path) -> None:
    """Discover, name, and describe again; then take all back."""
    found = call(shotad, "cast", "discover", "sample.mp4", folder=here)
    assert found.returncode == 0, found.stderr
    assert (here / "sample.cast/overview.html").is_file()
    name = ("person-01", "Eileen Collins", "--speak", "Eileen", "--pronoun", "she")
    named = call(shotad, "cast", "name", "sample.cast", *name, folder=here)
    assert named.returncode == 0, named.stderr
    done = call(shotad, "describe", "sample.mp4", "--cast", "sample.cast", "--json", folder=here)
    after = json.loads(done.stdout)
    assert "Eileen" in after["recognised"]
    # The astronaut is in the film from 9 s on (tests/sample/README.md), so she comes in anew in no slot.
    assert [line["text"] for line in after["lines"] if line["text"]] == shown_in_readme()[0]
    work_folder = here / "sample.shotad"
    material = json.loads((work_folder / "material.json").read_text("utf-8"))
    named = [
        entry["start"]
        for entry in material["slots"]
        for people in entry["people"]
        if "Eileen" in people["known"]
    ]
    assert named
    assert all(9 <= start < 28 for start in named)
    forget = ("cast", "forget", "sample.cast", "--all", "--yes", "--film-folder", "sample.shotad")
    dropped = call(shotad, *forget, folder=here)
    assert dropped.returncode == 0, dropped.stderr
    assert not [
        p for p in work_folder.iterdir() if p.suffix in (".json", ".jsonl") and "embeddings" in p.read_text()
    ]
