#!/usr/bin/env python3
"""Proves that a rebuilding changed no behaviour: runs an earlier commit and the working tree, and compares.

    python tools/golden.py BASE [part ...]

BASE is any commit. It is unpacked beside a copy of the working tree, and both run the same commands side by
side, with the Python that runs this, in folders that look alike. A line tells of each comparison; exit code 1
where anything differs. No difference is allowed for. The parts, one after the other:

describe   a piece of the sample film and of three real ones, by the engines fake, embedded and tiny models of
           the real classes, without and with a cast: all that is printed, and all files of the work folders.
continue   what BASE has described is gone on with: as many requests as BASE itself makes (none), all files
           the same, keys too, and nothing is written anew that BASE leaves alone; then with an answer lost.
render     the sample described and spoken: as a film, alone, with pauses. Streams and packets are the same,
           but for sound, whose difference is 60 dB or more below the sound of BASE.
help       help and parameters of every command.
calls      right and wrong calls: exit code, standard output, standard error, and what they leave.
evaluate   shotad evaluate on CMD-AD: the same reports.

Keys and other hashes count in ``continue`` alone, progress and times of day nowhere. Where ../shared/data is
not at hand a line says what is left out.
"""

from __future__ import annotations

import argparse
import csv
import functools
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from differences import file_differences, text_differences, value_differences

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"
SAMPLE = ROOT / "tests" / "sample" / "sample.mp4"

FILMS = {
    "sample": (SAMPLE, "12", "30"),
    "rabbit": (DATA / "films" / "rabbit" / "video.mp4", "0", "13"),
    "sintel": (DATA / "films" / "sintel-trailer.mp4", "20", "34"),
    "steel": (DATA / "films" / "tears-of-steel-battle.webm", "8", "20"),
}
"""The films, and the seconds of each that are described."""

SMALL = (
    "stage1.model={given}/looks", "stage2.model={given}/writes", "local.batch=1", "frames.min_pixels=12544",
    "frames.max_pixels=25088", "frames.inside=3",
    "frames.outside=2", "stage1.attempts=1", "stage1.sampling.max_tokens=24", "stage2.sampling.max_tokens=24",
)  # fmt: skip
ENGINES = {
    "fake": "--engine fake",
    "embedded": "--engine embedded",
    "local": "--engine paper " + " ".join(f"--set {setting}" for setting in SMALL),
}
MODELS = """
from pathlib import Path
from tests.language_models import make_llama
from tests.vision_models import qwen_folder
qwen_folder(Path("looks"), "qwen2_vl")
make_llama(Path("writes"), context=8192, says="She runs.")
"""
"""Makes the tiny models. One always writes the same; what the other sees hangs on pictures and prompt."""

CALLS = """
--version | nonsense | describe | describe missing.mp4 | describe sample.mp4 --engine nonsense
describe sample.mp4 --set frame.inside=3 | describe sample.mp4 --set frames.inside=-1
describe sample.mp4 --config nonsense | describe sample.mp4 --from 30 --to 10
describe sample.mp4 --candidates 11
describe sample.mp4 --cast missing --out no | describe {given}/text.mp4 --out no
describe sample.mp4 --engine openai --out no
describe sample.mp4 --engine fake --to 20 --candidates 3 --subtitles {given}/sample.en.vtt --json
describe sample.mp4 --engine fake --from 12 --to 30 --plain --no-sheet --detail rich
describe sample.mp4 --engine fake --from 12 --to 30 --estimate --json
shots sample.mp4 --json | slots sample.mp4 --json | grammar sample.mp4 --json
shots sample.mp4 | slots sample.mp4 | grammar sample.mp4
lint sample.shotad | lint sample.mp4 --json | lint --list --json | lint missing | sheet sample.mp4 --json
export sample.mp4 --format nonsense | export sample.mp4 --out scripts/ --json | sheet missing
export --check scripts/sample.ad.vtt scripts/sample.ad.dapt.xml --json | export --check {given}/text.mp4
redo sample.mp4 13.0 --engine fake --note Rain --json --no-sheet | redo sample.mp4 s99999999
import sample.shotad scripts/sample.ad.srt --reviewer Ann --json | import sample.mp4 missing.srt
translate sample.shotad --to de --engine fake --json | translate sample.shotad --to nonsense_1
cast discover sample.mp4 --cast c --from 12 --to 30 --json | cast show c --json | cast show missing
cast name c person-01 Ann --pronoun she --json | cast name c person-77 Ann
cast merge c person-01 person-02 --json
cast forget c --all --yes --film-folder sample.shotad --json
batch sample.mp4 --out library --engine fake --dry-run --json | batch missing --out library
voices --json | voices --language de --json | voices --say Hello | render missing
render sample.mp4 --make nonsense | models list --json | models verify --json
models pull nonsense | doctor --json
datasets check cmd-ad --root missing --json | predict cmd-ad --root missing --out p.jsonl
evaluate ad nonsense --predictions p.jsonl | evaluate compare missing missing | evaluate nonsense
evaluate inter-rater scripts/sample.ad.vtt scripts/sample.ad.srt --metrics cider --json
evaluate merge x --out y | train scale --data missing | review missing --no-open
"""
"""One call after the other, between bars or line ends."""

WALK = """
import importlib, json, sys, click
found = {}
def walk(command, name, parent):
    settings = {**command.context_settings, "terminal_width": 90}
    context = click.Context(command, info_name=name, parent=parent, **settings)
    found[context.command_path] = {
        "help": command.get_help(context).splitlines(),
        "parameters": [one.to_info_dict() for one in command.get_params(context)],
    }
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            walk(command.get_command(context, inner), inner, context)
walk(importlib.import_module(sys.argv[1]).cli, "shotad", None)
print(json.dumps(found, default=lambda value: type(value).__name__))
"""


HASH = re.compile(r"(?<![\w.])[0-9a-f]{16,64}(?!\w)")
TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?([+-]\d\d:\d\d|Z)?")
PROGRESS = re.compile(r"^[^:\n]+: (\d+ of \d+ .*%.*|done in .*)\.\n", re.MULTILINE)
LEFT_OUT = re.compile(r"/voice/|/speed\.json$")
"""Files that are no matter: takes are named by hashes, and are in what is rendered."""


# The two sides


@dataclass(frozen=True)
class Said:
    """What a command left behind."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Side:
    """A checkout that runs commands: ``home`` holds its code, and the folder ``work`` in which they run."""

    home: Path

    @property
    def code(self) -> Path:
        return self.home / "code"

    @property
    def work(self) -> Path:
        return self.home / "work"

    @functools.cached_property
    def entry(self) -> tuple[str, str]:
        """Module and function of the program."""
        about = tomllib.loads((self.code / "pyproject.toml").read_text(encoding="utf-8"))
        module, _, function = about["project"]["scripts"]["shotad"].partition(":")
        return module, function

    def python(self, program: str, *words: str) -> Said:
        """Runs a program with this side's code."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SHOTAD_DATA", "OPENAI_", "PYTHON"))}
        ours = {"PYTHONPATH": str(self.code), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "COLUMNS": "100"}
        done = subprocess.run(
            [sys.executable, "-c", program, *words], cwd=self.work, env=kept | ours, capture_output=True,
            stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        return Said(done.returncode, *(text.decode(errors="replace") for text in (done.stdout, done.stderr)))

    def shotad(self, words: Iterable[str]) -> Said:
        """Runs ``shotad`` as a user does."""
        module, function = self.entry
        program = f"import sys; from {module} import {function} as main; sys.argv[0] = 'shotad'; main()"
        return self.python(program, *words)

    def plain(self, text: str, *, exact: bool = False) -> str:
        """A text without what differs in any two runs; without hashes too, unless ``exact``."""
        text = PROGRESS.sub("", TIME.sub("TIME", text.replace(str(self.home), "HOME")))
        return text if exact else HASH.sub("HASH", text)


class Golden:
    """Both sides, and how many comparisons there were. ``given`` holds what both read."""

    def __init__(self, home: Path) -> None:
        self.base, self.tree, self.given = Side(home / "base"), Side(home / "tree"), home / "given"
        self.sides = (self.base, self.tree)
        self.told = self.differ = 0

    def both(self, run: Callable[[Side], Said]) -> tuple[Said, Said]:
        """Runs something on both sides at once."""
        with ThreadPoolExecutor(2) as pool:
            one, other = pool.map(run, self.sides)
        return one, other

    def words(self, text: str) -> list[str]:
        """The words of a command line, in which ``{given}`` is a folder."""
        return [word.format(given=self.given) for word in shlex.split(text)]

    def tell(self, name: str, found: Iterable[str], note: str = "") -> None:
        """The line of a comparison, and below it the first differences."""
        found = list(found)
        self.told, self.differ = self.told + 1, self.differ + bool(found)
        rest = [f"and {len(found) - 6} more"] if len(found) > 6 else []
        print(f"{'DIFFERS' if found else 'equal  '} {name}{note}", flush=True)
        for line in [*found[:6], *rest]:
            print(f"          {line}", flush=True)

    def call(self, name: str, words: list[str], *folders: str, shape: bool = False) -> None:
        """Runs a command on both sides and tells what differs, also in ``folders``.

        ``shape``: numbers that it prints do not count, for they are the machine's.
        """
        said, found = self.compared(words, *folders, shape=shape)
        last = [line[:80] for line in said.err.strip().splitlines()[-1:]]
        self.tell(name, found, f" (exit code {said.code}: {''.join(last)})" if said.code else "")

    def compared(
        self, words: list[str], *folders: str, exact: bool = False, shape: bool = False
    ) -> tuple[Said, list[str]]:
        """What BASE says to a command, and what differs; with ``exact`` hashes count too."""
        one, other = self.both(lambda side: side.shotad(words))
        found = [] if one.code == other.code else [f"exit code {one.code} → {other.code}"]
        for way, *texts in (("stdout", one.out, other.out), ("stderr", one.err, other.err)):
            plain = [side.plain(text, exact=exact) for side, text in zip(self.sides, texts, strict=True)]
            if shape:
                plain = [re.sub(r"\d+(\.\d+)?", "0", text) for text in plain]
            found += (f"{way} {line}" for line in text_differences(*plain))
        for folder in folders:
            found += self.folder_differences(folder, exact=exact)
        return one, found

    def folder_differences(self, name: str, *, exact: bool = False) -> Iterator[str]:
        """What differs in the files below a folder that both have written."""
        base, tree = (
            {
                path.relative_to(side.work).as_posix()
                for path in (side.work / name).rglob("*")
                if path.is_file()
            }
            for side in self.sides
        )
        for file in sorted(base | tree):
            if LEFT_OUT.search(file):
                continue
            if file not in base or file not in tree:
                yield f"{file}: only in {'BASE' if file in base else 'the working tree'}"
                continue
            found = file_differences(self.base.work / file, self.tree.work / file, self._plain(exact))
            yield from (f"{file} {line}" for line in found)

    def _plain(self, exact: bool) -> Callable[[Path, str], str]:
        def plain(path: Path, text: str) -> str:
            side = self.base if path.is_relative_to(self.base.home) else self.tree
            return side.plain(text, exact=exact)

        return plain


# The parts


def films(golden: Golden) -> Iterator[tuple[str, list[str], dict[str, list[str]]]]:
    """Of each film that is here: its name, how its cast is made, and how it is described, by name."""
    for name, (path, start, end) in FILMS.items():
        if not path.exists():
            print(f"left out {name}: {path} is not here", flush=True)
            continue
        film = golden.given / f"{name}{path.suffix}"
        if not film.exists():
            shutil.copy(path, film)
        piece = golden.words(f"{film} --out {name} --from {start} --to {end} --json")
        calls = {}
        for engine, given in ENGINES.items():
            calls[engine] = ["describe", *piece, *golden.words(given)]
            calls[f"{engine}, cast"] = [*calls[engine], "--cast", f"{name}.cast"]
        yield name, ["cast", "discover", *piece, "--cast", f"{name}.cast"], calls


def describe(golden: Golden) -> None:
    """Describes each film by each engine, without and with a cast."""
    for name, discover, calls in films(golden):
        golden.call(f"describe {name}: cast discover", discover, f"{name}.cast")
        golden.call(f"describe {name}: cast name", ["cast", "name", f"{name}.cast", "person-01", "Ann"])
        for told, words in calls.items():
            golden.call(f"describe {name}: {told}", words, name, f"{name}.cast")


def go_on(golden: Golden) -> None:
    """Describes what BASE has described, by both; and once more with an answer lost."""
    base = golden.base
    for name, discover, calls in films(golden):
        if not (base.work / name).exists():
            naming = ["cast", "name", f"{name}.cast", "person-01", "Ann"]
            for words in (discover, naming, *calls.values()):
                base.shotad(words)
        for folder in (name, f"{name}.cast"):
            _as_base_left_it(golden, folder)
        for told, words in calls.items():
            _go_on(golden, f"{name}: {told}", words, name)
        for side in golden.sides:
            answers = side.work / name / "answers.jsonl"
            answers.write_bytes(b"".join(answers.read_bytes().splitlines(keepends=True)[:-1]))
        _go_on(golden, f"{name}: {told}, an answer lost", words, name)


def _as_base_left_it(golden: Golden, folder: str) -> None:
    """Puts a copy of a folder of BASE into the working tree's place, with the times of its files."""
    base, tree = golden.base, golden.tree
    shutil.rmtree(tree.work / folder, ignore_errors=True)
    shutil.copytree(base.work / folder, tree.work / folder)
    for path in (tree.work / folder).rglob("*"):
        if path.suffix == ".json" or path.name == ".used-in":
            before, text = path.stat(), path.read_text(encoding="utf-8")
            path.write_text(text.replace(str(base.home), str(tree.home)), encoding="utf-8")
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _go_on(golden: Golden, name: str, words: list[str], folder: str) -> None:
    before = [_written(side.work / folder) for side in golden.sides]
    said, found = golden.compared(words, folder, exact=True)
    after = [_written(side.work / folder) for side in golden.sides]
    base, tree = ({name for name, _ in now - was} for was, now in zip(before, after, strict=True))
    found += (
        f"{file}: written anew by {'BASE' if file in base else 'the working tree'}" for file in base ^ tree
    )
    asked = json.loads(said.out)["used"]["calls"] if said.out else "?"
    golden.tell(f"continue {name}", found, f" ({asked} requests)")


def _written(folder: Path) -> set[tuple[str, int]]:
    return {(path.name, path.stat().st_mtime_ns) for path in folder.glob("*.json*")}


def render(golden: Golden) -> None:
    """Describes a piece of the sample and speaks it; at the end with nothing left to speak."""
    shutil.copy(SAMPLE, golden.given / "sample.mp4")
    calls = {
        "film": "describe {given}/sample.mp4 --out spoken --engine fake --to 30 --voice auto --json",
        "alone, to a loudness": "render spoken --make ad:mp3 --make mix:wav --loudness ebu-r128 --json",
        "pauses": "render spoken --make film:mkv --extended --json",
        "again": "render spoken --make film:mkv --extended --json",
    }
    for name, words in calls.items():
        golden.call(f"render: {name}", golden.words(words), "spoken")


def helps(golden: Golden) -> None:
    """Compares help and parameters of all commands."""
    one, other = golden.both(lambda side: side.python(WALK, side.entry[0]))
    golden.tell("help: it can be read", [said.err[-300:] for said in (one, other) if said.code])
    base, tree = (json.loads(said.out) for said in (one, other))
    golden.tell("help: the commands", value_differences(list(base), list(tree)))
    for name in (name for name in base if name in tree):
        golden.tell(f"help: {name}", value_differences(base[name], tree[name]))


def calls(golden: Golden) -> None:
    """Makes right and wrong calls, and compares what they have left at the end."""
    for side in golden.sides:
        shutil.copy(SAMPLE, side.work / "sample.mp4")
    shutil.copy(SAMPLE.with_name("sample.en.vtt"), golden.given)
    (golden.given / "text.mp4").write_text("This is no film.")
    for text in filter(str.strip, re.split(r"[|\n]", CALLS)):
        words = golden.words(text)
        golden.call(f"call: {text.strip()[:90]}", words, shape="doctor" in words)
    for folder in ("sample.shotad", "c", "scripts", "no"):
        golden.tell(f"call: what lies in {folder}", golden.folder_differences(folder))


def evaluate(golden: Golden) -> None:
    """Measures made-up predictions for the first ADs of CMD-AD, some too short, some missing."""
    folder = DATA / "cmd-ad"
    if not folder.is_dir():
        print(f"left out evaluate: {folder} is not here", flush=True)
        return
    with (folder / "cmdad_anno.csv").open(encoding="utf-8", newline="") as file:
        texts = [row["text"] for row in csv.DictReader(file)][:101]
    said = [[texts[n], texts[n + 1], texts[n][: len(texts[n]) // 2], None][n % 4] for n in range(100)]
    rows = [json.dumps({"id": n, "text": text}) for n, text in enumerate(said) if n % 10]
    (golden.given / "said.jsonl").write_text("\n".join(rows))
    asked = f"--root {folder} --predictions {{given}}/said.jsonl --missing skip --cache kept.sqlite --json"
    golden.call("evaluate: datasets check", golden.words(f"datasets check cmd-ad --root {folder} --json"))
    for name, more in {"all": "", "code": "--config reference-code --metrics cider,rouge-l,bleu-4"}.items():
        words = golden.words(f"evaluate ad cmd-ad {asked} --out report-{name} {more}")
        golden.call(f"evaluate: {name}", words, f"report-{name}")
    words = golden.words("evaluate compare report-all report-code --out compared --json")
    golden.call("evaluate: compare", words, "compared")


PARTS = {
    "describe": describe,
    "continue": go_on,
    "render": render,
    "help": helps,
    "calls": calls,
    "evaluate": evaluate,
}


# The program


def set_up(golden: Golden, base: str) -> None:
    """Puts commit BASE, the files of the working tree and the tiny models into their folders."""
    for folder in (golden.base.code, golden.base.work, golden.tree.code, golden.tree.work, golden.given):
        folder.mkdir(parents=True)
    archive = golden.given / "base.tar"
    git = ["git", "-C", str(ROOT)]
    subprocess.run([*git, "archive", "--output", str(archive), base], check=True)
    shutil.unpack_archive(archive, golden.base.code, filter="data")
    listed = subprocess.run([*git, "ls-files", "-coz", "--exclude-standard"], check=True, capture_output=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            target = golden.tree.code / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)
    for side in golden.sides:
        where = side.python("import shotad; print(shotad.__file__)")
        if not where.out.startswith(str(side.code)):
            sys.exit(f"{side.code} is not what runs: {where.out or where.err}")


def make_models(golden: Golden) -> None:
    """Makes the tiny models, by the helpers of this tree's tests."""
    kept = os.environ | {"PYTHONPATH": str(golden.tree.code)}
    program = [sys.executable, "-c", MODELS]
    subprocess.run(program, cwd=golden.given, env=kept, check=True, capture_output=True)


def main() -> int:
    kind = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=kind)
    parser.add_argument("base", metavar="BASE", help="the commit to hold the working tree against")
    parser.add_argument("parts", metavar="part", nargs="*", help=f"only these: {', '.join(PARTS)}")
    asked = parser.parse_args()
    if unknown := set(asked.parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="golden-") as home:
        golden = Golden(Path(home))
        set_up(golden, asked.base)
        if not asked.parts or {"describe", "continue"} & set(asked.parts):
            make_models(golden)
        for name in asked.parts or PARTS:
            PARTS[name](golden)
    print(f"{golden.told} comparisons, {golden.differ} differ, {time.monotonic() - begun:.0f} s")
    return 1 if golden.differ or not golden.told else 0


if __name__ == "__main__":
    sys.exit(main())
