"""Which frames each way of sampling shows of CMD-AD's 7,316 ADs.

    python benchmarks/frames.py

distinct: different frames among those in the AD (of 16) and in the whole clip (of 32). lost: shots of
the context without a frame, and current ones among them. margin: frames of current shots outside the AD.
"""

from __future__ import annotations

import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from shotad.core import Config, Role, load_config
from shotad.film import context_shots, plan_frames
from tests.cmdad import DATA, cmdad

CINEMA, SERIES = Fraction(24000, 1001), Fraction(3)
WAYS = {
    "default": (load_config(), CINEMA),
    "reference-code": (load_config("reference-code"), CINEMA),
    "uniform": (load_config(None, ["frames.sampling=uniform"]), CINEMA),
    "one neighbour": (load_config(None, ["context.past=1", "context.future=1"]), CINEMA),
    "no neighbour": (load_config(None, ["context.past=0", "context.future=0"]), CINEMA),
    "default, 3 fps": (load_config(), SERIES),
}


def measure(config: Config, rate: Fraction) -> dict[str, float]:
    """Figures over all ADs; means but for ``not 32`` and the lost shots."""
    sums: Counter[str] = Counter()
    for golden in cmdad():
        context = context_shots(golden.slot, golden.shots, config.context)
        plans = plan_frames(golden.slot, context, config.frames, rate)
        moments = np.concatenate([p.seconds for p in plans])
        current = np.concatenate([np.full(len(p.seconds), p.role is Role.CURRENT) for p in plans])
        inside = (moments >= golden.slot.start) & (moments < golden.slot.end)
        frames = np.floor(moments * float(rate) + 1e-9)
        lost = Counter(c.role for c in context) - Counter(p.role for p in plans)
        sums["not 32"] += len(moments) != 32
        sums["in AD"] += int(inside.sum())
        sums["distinct in AD"] += min(len(set(frames[inside])), 16)
        sums["distinct"] += len(set(frames))
        sums["margin"] += int((current & ~inside).sum())
        sums["lost"] += lost.total()
        sums["lost current"] += lost[Role.CURRENT]
    counted = ("not 32", "lost", "lost current")
    return {name: value if name in counted else value / len(cmdad()) for name, value in sums.items()}


def main() -> None:
    if not DATA / "cmd-ad".is_dir():
        raise SystemExit(f"The CMD-AD annotation is not in {DATA / 'cmd-ad'}.")
    rows = {name: measure(*way) for name, way in WAYS.items()}
    names = list(next(iter(rows.values())))
    print(f"{'':16}" + "".join(f"{name:>16}" for name in names))
    for way, row in rows.items():
        cells = (f"{row[name]:16.2f}" if row[name] % 1 else f"{int(row[name]):16d}" for name in names)
        print(f"{way:16}" + "".join(cells))


if __name__ == "__main__":
    main()
