"""T7 on the tracks and scripts of a work folder: also on one that was written before tracks knew of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from shotad.core import Interval, load_config
from shotad.description import Asked, checked_paths, lint_track
from shotad.script import Cue, Edit, EditField, FilmId, Finding, Level, Maker, Report, Track, save_track
from tests.handmade import line, look

CONFIG = load_config(None, ["lint.parse=words"])
MAKERS = (Maker("Stage I", "observer"), Maker("Stage II", "narrator", "grammar"))


def cue(at: float, text: str, **more: object) -> Cue:
    name = f"s{round(at * 1000):08d}"
    return Cue(name, name, Interval(at, at + 4), text, candidates=(text,), chosen=0, **more)  # type: ignore[arg-type]


def track(*cues: Cue) -> Track:
    return Track(FilmId("sample.mp4", "abc", 45.0), "en", MAKERS, "1", cues)


PERSON, WORDS = "Close by, a person stays still.", 'Words appear: "THE NEXT MORNING" as a person enters.'


def person(first: float) -> dict[str, object]:
    return {
        "shot": 3, "first": first, "last": first + 2, "count": 1, "place": "centre", "size": 0.5, "face": True,
        "movement": None, "enters": False, "leaves": False, "sure": 0.9,
    }  # fmt: skip


def write_old_records(folder: Path) -> None:
    """What a run wrote that did not know from when on a fact is to be seen."""
    looks = [
        look("s00013000", notes={"current": [3], "people": [person(16.5)]}),
        look(
            "s00019500",
            notes={
                "current": [3],
                "people": [person(24.0)],
                "texts": [
                    {"shot": 3, "text": "X", "kind": "title", "first": 23.5, "last": 25.5, "sure": 0.9}
                ],
            },
        ),
    ]
    said = [[{"what": "still", "shot": 3}], [{"what": "title", "shot": 3}, {"what": "enters", "shot": 3}]]
    lines = [
        line(one["slot"], candidates=["A line."], notes={"said": [rows]})
        for one, rows in zip(looks, said, strict=True)
    ]
    for name, rows in (("stage1", looks), ("stage2", lines)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def early(report: Report) -> list[Finding]:
    return [finding for finding in report.findings if finding.rule == "T7"]


def test_both_lines_of_an_older_track_are_found(tmp_path: Path) -> None:
    write_old_records(tmp_path)
    found = early(lint_track(track(cue(13.0, PERSON), cue(19.5, WORDS)), tmp_path, CONFIG))
    assert [(one.cue_id, one.level) for one in found] == [
        ("s00013000", Level.ERROR),
        ("s00019500", Level.ERROR),
    ]
    assert "3.5 s before" in found[0].message
    assert "4.0 s before" in found[1].message


def test_a_track_that_says_it_itself_needs_no_records(tmp_path: Path) -> None:
    lines = cue(13.0, PERSON, seen_from=16.5), cue(23.5, WORDS, seen_from=23.5)
    (found,) = early(lint_track(track(*lines), tmp_path, CONFIG))
    assert found.cue_id == "s00013000"


def test_a_line_that_a_person_moved_gets_a_hint(tmp_path: Path) -> None:
    one = cue(13.0, PERSON, seen_from=16.5)
    moved = replace(one, edited=Edit((EditField.TIME,), "track.json", one.machine))
    (found,) = early(lint_track(track(moved), tmp_path, CONFIG))
    assert found.level is Level.WARNING


def test_a_script_in_the_folder_is_judged_by_its_track(tmp_path: Path) -> None:
    written = track(cue(13.0, PERSON, seen_from=16.5))
    save_track(written, tmp_path, "sample.mp4")
    script = tmp_path / "sample.ad.vtt"

    def levels() -> list[Level]:
        (report,) = checked_paths([script], lambda _: CONFIG, Asked())
        assert isinstance(report, Report)
        return [finding.level for finding in early(report)]

    assert levels() == [Level.ERROR]
    script.write_text(script.read_text().replace("a person", "somebody"))
    assert levels() == [Level.WARNING]
