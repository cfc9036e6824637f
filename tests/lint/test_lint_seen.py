"""T7 on the tracks and scripts of a work folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from shotad.core import Interval, load_config
from shotad.description import Asked, checked_paths, lint_track
from shotad.script import Cue, Edit, EditField, FilmId, Finding, Level, Maker, Report, Track, save_track

CONFIG = load_config(None, ["lint.parse=words"])
MAKERS = (Maker("Stage I", "observer"), Maker("Stage II", "narrator", "grammar"))


def cue(at: float, text: str, **more: object) -> Cue:
    name = f"s{round(at * 1000):08d}"
    return Cue(name, name, Interval(at, at + 4), text, candidates=(text,), chosen=0, **more)  # type: ignore[arg-type]


def track(*cues: Cue) -> Track:
    return Track(FilmId("sample.mp4", "abc", 45.0), "en", MAKERS, "1", cues)


PERSON, WORDS = "Close by, a person stays still.", 'Words appear: "THE NEXT MORNING" as a person enters.'


def early(report: Report) -> list[Finding]:
    return [finding for finding in report.findings if finding.rule == "T7"]


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
