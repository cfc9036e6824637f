"""The sample film and the embedded default on it, judged by the film's truths."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shotad.core import Interval, Utterance
from shotad.core.config.film import ShotSettings
from shotad.core.config.sound import LintSettings
from shotad.description import Checker, lint
from shotad.film import detect_shots_in_pass, open_film, read_subtitles
from shotad.script import Cue, Level, Material, Track, lines_of_track, load_track
from tests.sample_run import ROOT, SAMPLE, described_sample, modules_of, start

FILMS = ROOT.parent / "shared" / "data" / "films"
PACE = 0.375
"""Seconds a word."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def truths() -> dict[str, Any]:
    return dict(json.loads((SAMPLE.parent / "sample.truths.json").read_text()))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return described_sample(tmp_path_factory)


def track_of(out: Path) -> Track:
    return load_track(out / "track.json")


def test_captions_are_what_is_said_and_shots_are_found_on_either_path(truths: dict[str, Any]) -> None:
    heard = read_subtitles(SAMPLE.parent / "sample.en.vtt").utterances
    assert [line.text for line in heard] == [line["text"] for line in truths["speech"]]
    for line, truth in zip(heard, truths["speech"], strict=True):
        assert [line.interval.start, line.interval.end] == pytest.approx(truth["seconds"], abs=0.002)
    # The way into black has no frame of its own for the border.
    dark = next(Interval(*fade["seconds"]) for fade in truths["fades"] if fade["kind"] == "out")
    for path in ("exact", "fast"):
        settings = ShotSettings.model_validate({"detector": "adaptive", "path": path})
        with open_film(SAMPLE) as film:
            found = detect_shots_in_pass(film, settings)
        assert found.frame_count == truths["frames"]
        seconds = {cut: cut / truths["frame_rate"] for cut in found.cuts}
        assert {cut for cut, at in seconds.items() if not dark.start <= at <= dark.end} == set(truths["cuts"])
        starts = [shot.interval.start for shot in found.shots[1:]]
        assert starts == pytest.approx([*seconds.values()], abs=1e-4)


def check_kinds(out: Path) -> None:
    """Each line is of the kinds that are worth hearing, and each slot without a line has its reason."""
    lines = {row["slot"]: row for row in map(json.loads, (out / "stage2.jsonl").read_text().splitlines())}
    for cue in track_of(out).cues:
        if cue.id not in lines:
            assert " likely here; " in cue.reason, cue.id  # somebody may sing or shout
            continue
        notes = lines[cue.id]["notes"]
        assert cue.text or notes["reason"], cue.id
        for said in notes["said"][cue.chosen or 0] if cue.text else ():
            assert said["what"] in ("title", "caption", "scene", "people")


def test_titles_are_read_out_and_nothing_else_is_said(whole: Path, truths: dict[str, Any]) -> None:
    check_kinds(whole)
    track = track_of(whole)
    assert errors_in(track, [Interval(*spoken["seconds"]) for spoken in truths["speech"]]) == []
    said = [cue.text for cue in track.heard]
    assert said == [
        'Words appear: "READY FOR LAUNCH."',
        'Words appear: "THE NEXT MORNING."',
    ]
    # What is not said is material for the describer.
    looks = [json.loads(line)["notes"] for line in (whole / "stage1.jsonl").read_text().splitlines()]
    assert sum(faces["count"] for notes in looks for faces in notes["faces"]) >= 1


def test_threads_and_scales_are_those_of_the_film(whole: Path, truths: dict[str, Any]) -> None:
    """Measured: both threads (the walk before the rocket is joined to it too), and of 8 scales those with a face, one of them wrong."""
    rows = {row["index"]: row for row in json.loads((whole / "grammar.json").read_text())["shots"]}
    assert len(rows) == len(truths["shots"])
    for thread in truths["threads"]:
        assert len({rows[shot]["thread"] for shot in thread}) == 1
        assert rows[thread[0]]["thread"] is not None
    assert len({rows[thread[0]]["thread"] for thread in truths["threads"]}) == 2
    assert sum(row["thread"] is not None for row in rows.values()) <= 5
    labelled = {k: shot["scale"] for k, shot in enumerate(truths["shots"]) if shot["scale"]}
    told = {k: rows[k]["scale"] for k in labelled if rows[k]["scale"]}
    assert len(told) >= 3
    assert sum(told[k] != labelled[k] for k in told) <= 1
    named = [json.loads(line) for line in (whole / "stage1.jsonl").read_text().splitlines()]
    assert any(record["threads"] for record in named)
    assert len({tuple(record["factors"]) for record in named}) >= 2


def test_a_describe_with_the_embedded_engine_loads_no_heavy_library(whole: Path) -> None:
    loaded = modules_of(whole).read_text().split()
    assert not {"torch", "spacy", "ray", "starlette", "openai"} & set(loaded)


def errors_in(track: Track, speech: list[Interval]) -> list[str]:
    """What must not go out of the lines of a track of a film in which people speak at these times."""
    material = Material("film", lines_of_track(track), track.film.duration, tuple(map(Utterance, speech)))
    found = lint(material, Checker.of(LintSettings(parse="words"))).findings
    return [str(finding) for finding in found if finding.level is Level.ERROR]


def check_in_time(out: Path) -> None:
    """No line starts more than a second before what it tells is seen, by the records of its run."""
    looks = {row["slot"]: row for row in map(json.loads, (out / "stage1.jsonl").read_text().splitlines())}
    lines = {row["slot"]: row for row in map(json.loads, (out / "stage2.jsonl").read_text().splitlines())}
    for cue in track_of(out).heard:
        assert cue.seen_from is not None, cue.text
        assert cue.interval.start >= cue.seen_from - 1.0, cue.text
        facts = looks[cue.id]["notes"]
        for said in lines[cue.id]["notes"]["said"][cue.chosen or 0]:
            told = cue.interval.start + said["after"] * PACE
            assert told >= said["since"] - 1.0 - 1e-6, (cue.text, said)
            kinds = ("texts", "entrances")
            firsts = [f["first"] for k in kinds for f in facts[k] if f["shot"] == said["shot"]]
            assert told >= min(firsts, default=said["since"]) - 1.0 - 1e-6, (cue.text, said)


def test_each_line_is_told_while_it_is_on_the_screen(whole: Path, truths: dict[str, Any]) -> None:
    check_in_time(whole)
    texts = {text["text"]: Interval(*text["seconds"]) for text in truths["texts"]}
    read = 0
    for cue in track_of(whole).heard:
        for words, shown in texts.items():
            if (quoted := f'"{words}') in cue.text:
                assert shown.start - 1.0 <= begun(cue, quoted) < shown.end, cue.text
                read += 1
    assert read == 2


def begun(cue: Cue, words: str) -> float:
    """The second at which these words of a cue are begun."""
    return cue.interval.start + PACE * len(cue.text[: cue.text.index(words)].split())


REAL = {
    "sintel-trailer.mp4": [(12.0, 15.0), (18.5, 20.5), (36.5, 39.0), (41.5, 44.0)], "sintel-excerpt.mp4": [],
    "tears-of-steel-battle.webm": [], "rabbit/video.mp4": [],
}  # fmt: skip
"""Real clips, and when people speak in them by their captions and by ear."""


@pytest.mark.long
@pytest.mark.parametrize("name", REAL)
def test_real_film_gets_lines_that_keep_the_rules(name: str, tmp_path: Path) -> None:
    if not (FILMS / name).is_file():
        pytest.skip(f"the real clip {name} is not here")
    assert start(FILMS / name, tmp_path / "w").wait() == 0
    track = track_of(tmp_path / "w")
    assert track.cues
    check_kinds(tmp_path / "w")
    assert errors_in(track, [Interval(*span) for span in REAL[name]]) == []
    check_in_time(tmp_path / "w")
    said = " ".join(cue.text for cue in track.heard)
    if name == "sintel-trailer.mp4":
        # "COMING SOON" is read at one moment only, and what is read once is not said.
        for words in ("THE BLENDER FOUNDATION", "SINTEL"):
            assert words in said
    else:
        assert '"' not in said
