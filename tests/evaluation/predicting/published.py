"""A small CMD-AD in the layout, with the names and columns, of the published files: two films, 40 ADs."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path

from tests.evaluation.datasets.datasetfiles import ACTION_COLUMNS, CMD_COLUMNS, cmd_row, table
from tests.media import FilmSpec, make_film

FILMS = {
    "tt0000011": ("2011/aaaaaaaaaaa", "2011/bbbbbbbbbbb"),
    "tt0000012": ("2012/ccccccccccc", "2012/ddddddddddd"),
}
"""IMDb id → clips, ``year/YouTubeId``."""
CASTS = {"tt0000011": ("Ann Lee", "Bob Hart"), "tt0000012": ("Tony Wendice", "Margot Smith")}
ADS_OF_A_CLIP = 10
CUTS = (50, 110, 160, 230)
FRAMES, FPS = 300, 25
ACTS = (
    "opens the door", "runs down the stairs", "looks at the tower", "sits on the bed", "picks up a letter",
    "pours a glass of wine", "turns to the window", "walks across the square", "takes off a coat", "smiles",
)  # fmt: skip
GRAMMAR_FILE = "cmdad_anno_context-3.0-8.0_face-0.2-0.4_scale_thread.csv"
GRAMMAR_COLUMNS = [
    *CMD_COLUMNS,
    "AD_start",
    "AD_end",
    "shot_label",
    "anno_idx",
    "bboxes",
    "pred_ids",
    "thread",
    "shot_scale",
]


def shots_of_a_clip() -> list[tuple[float, float]]:
    """As published: they end 10 ms early and begin 10 ms late."""
    edges = [0, *CUTS, FRAMES]
    return [(first / FPS + 0.01, end / FPS - 0.01) for first, end in pairwise(edges)]


def make_published(root: Path) -> Path:
    """The files in the folders of the published repository, and the clips, below ``root``."""
    ads, actions, grammar = [], [], []
    for film, clips in FILMS.items():
        for place, clip in enumerate(clips):
            target = root / f"{clip}.mkv"
            target.parent.mkdir(parents=True, exist_ok=True)
            spec = FilmSpec(frames=FRAMES, cuts=CUTS, size=(112, 64))
            shutil.copy(make_film(spec).path, target)
            for number in range(ADS_OF_A_CLIP):
                who, act = CASTS[film][number % 2], ACTS[number]
                start, end = 1.1 * number + 0.2, 1.1 * number + 1.2
                in_film = 600.0 + 100 * place
                row = cmd_row(f"{who} {act}.", in_film + start, in_film + end, (start, end), clip, film)
                index = len(ads)
                ads.append(row)
                plain = f"She {act}."
                actions.append([index, film, row[0], plain, repr([plain])])
                grammar += grammar_rows(index, row, start, end)
    annotations = root / "resources/annotations"
    table(annotations / "cmdad_anno.csv", CMD_COLUMNS, ads)
    shots = [[clip, repr(shots_of_a_clip())] for clips in FILMS.values() for clip in clips]
    table(annotations / "cmdad_shot_info.csv", ["cmd_filename", "shot_list"], shots)
    table(annotations / GRAMMAR_FILE, GRAMMAR_COLUMNS, grammar)
    table(root / "action_score/gt_actions/cmdad_gt_action.csv", ACTION_COLUMNS, actions)
    training = [[7 * n, f"Ann {act}.", f"She {act} here."] for n, act in enumerate(ACTS)]
    table(root / "stage2/gt_ad_train/cmdad_train.csv", ["index", "text_gt", "text_gt_wo_char"], training)
    banks = root / "resources/charbanks"
    banks.mkdir(parents=True)
    bank = {
        film: [{"id": f"nm{n}", "name": f"Actor {n}", "role": role} for n, role in enumerate(names)]
        for film, names in CASTS.items()
    }
    (banks / "cmdad_charbank.json").write_text(json.dumps(bank), encoding="utf-8")
    (root / "resources/cast.json").write_text(json.dumps(CASTS), encoding="utf-8")
    return root


def grammar_rows(index: int, ad: list[object], start: float, end: float) -> list[list[object]]:
    """A row for each shot of the AD's context: at most two before, those of the AD, at most two after."""
    shots = shots_of_a_clip()
    current = [k for k, (first, last) in enumerate(shots) if first < end and last > start]
    before, after = (
        range(max(0, current[0] - 2), current[0]),
        range(current[-1] + 1, min(len(shots), current[-1] + 3)),
    )
    labels = [f"l-{k}" for k in range(len(before))] + [f"m-{k}" for k in range(len(current))]
    labels += [f"r-{k}" for k in range(len(after))]
    context = [*before, *current, *after]
    groups = [[n for n in range(len(context)) if n % 2 == side] for side in (0, 1)]
    thread = repr([group for group in groups if group])
    return [
        [*ad[:4], *shots[k], *ad[6:], start, end, label, index, "[]", "{}", thread, k % 5]
        for k, label in zip(context, labels, strict=True)
    ]
