"""How many different frames each way of sampling shows of CMD-AD's 7,316 ADs.

    python benchmarks/frames.py

Means over all ADs, at 24000/1001 frames a second: frames inside the AD of 16, in the whole clip of 32.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from shotad.core import load_config
from shotad.film import context_shots, plan_frames
from tests.cmdad import cmdad

RATE = Fraction(24000, 1001)


def main() -> None:
    for name, config in (("default", load_config()), ("reference-code", load_config("reference-code"))):
        # Different frames inside the AD, and in the whole clip
        inside, whole = [], []
        for golden in cmdad():
            context = context_shots(golden.slot, golden.shots, config.context)
            plans = plan_frames(golden.slot, context, config.frames, RATE)
            moments = np.concatenate([plan.seconds for plan in plans])
            frames = np.floor(moments * float(RATE) + 1e-9)
            own = (moments >= golden.slot.start) & (moments < golden.slot.end)
            inside.append(min(len(set(frames[own])), 16))
            whole.append(len(set(frames)))
        print(name, f"{np.mean(inside):.2f} {np.mean(whole):.2f}")


if __name__ == "__main__":
    main()
