"""Small datasets in the published formats, with all their traps, made for the test."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

Rows = Sequence[Sequence[object]]

CMD_COLUMNS = [
    "text", "start", "end", "movie", "scaled_start", "scaled_end", "cmd_filename", "imdbid", "movie_title",
    "cmd_clip_idx",
]  # fmt: skip
MAD_COLUMNS = [
    "movie", "sentence", "movie_duration", "start", "end", "imdbid", "lsmdc_filename", "start_hms", "end_hms",
]  # fmt: skip
TV_COLUMNS = [
    "text", "start", "end", "imdbid", "imdbid_pe", "season", "episode", "scaled_end", "scaled_start",
    "duration", "tvad_name", "tvad_index",
]  # fmt: skip
ACTION_COLUMNS = ["anno_idx", "imdbid", "text_gt", "text_gt_wo_char", "gt_action"]


def table(path: Path, columns: Sequence[str], rows: Rows) -> Path:
    """A CSV file as the published ones are: quotes where needed, LF."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([columns, *rows])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.getvalue(), encoding="utf-8")
    return path


def cmd_row(
    text: str,
    start: float,
    end: float,
    scaled: tuple[float, float],
    clip: str = "2014/ab",
    film: str = "tt01",
) -> list[object]:
    return [text, start, end, 7212, *scaled, clip, film, f"Film {film}", 1]


CMD_ROWS = [
    cmd_row("Ann opens the door.", 100.0, 101.0, (9.5, 11.5)),
    cmd_row("She runs, and falls.", 103.0, 106.0, (13.0, 16.0)),
    cmd_row("Bob sits down.", 50.0, 51.0, (-0.3, 1.7), "2015/cd", "tt02"),
    cmd_row("He waves.", 52.0, 53.5, (2.4, 4.4), "2015/cd", "tt02"),
]
CMD_ACTIONS: list[list[object]] = [
    # Not in the annotation's order, on purpose.
    [3, "tt02", "He waves.", "He waves.", "['He waves.']"],
    [0, "tt01", "Ann opens the door.", "She opens the door.", "['She opens the door.']"],
    [1, "tt01", "She runs, and falls.", "She runs, and falls.", "['She runs.', 'She falls.']"],
    [2, "tt02", "Bob sits down.", "He sits down.", "0"],
]
CMD_SHOTS = [
    ["2014/ab", "tt01", 7212, "Film tt01", "[(0.01, 7.539000000000001), (7.559, 9.833), (9.853, 20.0)]"],
    ["2015/cd", "tt02", 7213, "Film tt02", "[]"],
]
CAST = '{"tt01": ["Ann Lee", "Cop", "Cop"], "tt02": ["Bob (uncredited)"]}'


def cmd_ad(
    root: Path,
    *,
    rows: Rows | None = None,
    actions: Rows | None = None,
    shots: Rows | None = None,
    columns: Sequence[str] = CMD_COLUMNS,
) -> Path:
    """CMD-AD in one flat folder."""
    table(root / "cmdad_anno.csv", columns, CMD_ROWS if rows is None else rows)
    table(root / "cmdad_gt_action.csv", ACTION_COLUMNS, CMD_ACTIONS if actions is None else actions)
    shot_columns = ["cmd_filename", "imdbid", "movie", "movie_title", "shot_list"]
    table(root / "cmdad_shot_info.csv", shot_columns, CMD_SHOTS if shots is None else shots)
    (root / "cast.json").write_text(CAST, encoding="utf-8")
    return root


def mad_row(text: str, start: float, end: float) -> list[object]:
    return ["1005_Signs", text, 6391.2, start, end, "tt05", f"1005_Signs_{start:.3f}-{end:.3f}", "", ""]


MAD_ROWS = [
    mad_row("Graham sits up.", 149.97, 152.75), mad_row("A window looks out.", 133.011, 138.202),
    mad_row("He bows his head.", 137.0, 140.0),
]  # fmt: skip


def mad_eval(root: Path, film_column: str = "imdbid") -> Path:
    """MAD-Eval in the published repositories' folders."""
    columns = [film_column if name == "imdbid" else name for name in MAD_COLUMNS]
    table(root / "resources/annotations/madeval_anno.csv", columns, MAD_ROWS)
    shots = [["tt05", "[(0.01, 135.0), (135.02, 160.5)]"]]
    table(root / "resources/annotations/madeval_shot_info.csv", ["imdbid", "shot_list"], shots)
    actions = [[i, "tt05", row[1], row[1], f"[{row[1]!r}]"] for i, row in enumerate(MAD_ROWS)]
    table(root / "action_score/gt_actions/madeval_gt_action.csv", ACTION_COLUMNS, actions)
    return root


def tv_row(text: str, start: float, frames: Sequence[int]) -> list[object]:
    begin, clip = start - 0.1, "friends_s01e01_seg02_clip_04"
    return [
        text, start, start + 1.5, "tt0108778", "tt0583459", 1, 1, begin + 2.0, begin, 2.0, clip, list(frames),
    ]  # fmt: skip


def spread(first: int, last: int) -> list[int]:
    """Sixteen ascending numbers with repeats, as published."""
    return [round(first + (last - first) * i / 15) for i in range(16)]


TV_ROWS = [
    tv_row("His umbrella springs open.", 240.25, spread(9, 14)),
    tv_row("He sits down.", 242.653, spread(17, 22)),
]


def tv_ad(root: Path, *, rows: Rows | None = None) -> Path:
    """TV-AD in one flat folder, with the character bank by episode."""
    rows = TV_ROWS if rows is None else rows
    table(root / "tvad_anno.csv", TV_COLUMNS, rows)
    shots = [["[(1, 4), (5, 6), (7, 16), (17, 200)]", "friends_s01e01_seg02_clip_04"]]
    table(root / "tvad_shot_info.csv", ["shot_list", "tvad_name"], shots)
    actions = [[i, "tt0583459", row[0], row[0], f"[{row[0]!r}]"] for i, row in enumerate(rows)]
    table(root / "tvad_gt_action.csv", ACTION_COLUMNS, actions)
    bank = (
        '{"tt0583459": [{"id": "nm1", "role": "Ross Geller", "name": "D"}, '
        '{"id": "nm2", "role": "Waitress", "name": "E"}, {"id": "nm3", "role": "Waitress", "name": "F"}]}'
    )
    (root / "tvad_charbank.json").write_text(bank, encoding="utf-8")
    return root
