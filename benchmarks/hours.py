"""How long the predictions of the paper's tables take on graphics cards, for docs/reproduce.md: computed.

The ADs are those of the datasets. Seconds of a graphics processor come from the formula of docs/planning.md
(`cost_model.gpu_seconds`), with the makers' peaks and with shares of them that are stated: what transformers
reaches of the memory's speed by Qwen's own benchmark, and an assumed share of the arithmetic. Processor
seconds to decode and to paint are measured here with a real clip of 848x480 (`batches.measured_costs`).

    python benchmarks/hours.py
"""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace

from batches import measured_costs, videos_of
from common import command_line
from cost_model import GPUS, Asking, gpu_seconds

from shotad.core import load_config
from shotad.film import vlm_size

MEMORY_SHARE = 0.34
"""Of the memory's speed, by transformers (docs/planning.md); vLLM reaches 0.63."""
ARITHMETIC_SHARE = 0.4
"""Of the peak: assumed."""
BATCH = 16
CARDS = ("A100 80 GB SXM", "RTX 4090")
FRAMES = 32
HOUR = 3600.0


def main() -> None:
    command_line(__doc__).parse_args()
    width, height = vlm_size(1280, 720, load_config(["paper"]).frames)
    # Two frames of a video are one picture to Qwen2-VL, which has a token for each 28 x 28 pixels.
    how = replace(Asking(), frames=FRAMES, frame_tokens=width * height / 28**2 / 2)
    costs = measured_costs()
    print(f"Frames of 16:9 at {width}x{height}: {how.in1:,.0f} and {how.in2:,.0f} tokens for an AD.")
    print(
        f"848x480: {1000 * costs.prepare:.0f} ms of a processor to prepare a second of film, "
        f"{1000 * costs.read:.0f} ms to read the frames of an AD."
    )
    heads = [f"{name}: one, eight, cores each" for name in CARDS]
    print(f"| dataset | ADs | {' | '.join(heads)} |")
    for name in ("cmd-ad", "tv-ad", "mad-eval"):
        videos = videos_of(name, costs)
        ads = sum(len(video.part.ads) for video in videos)
        decoding = sum(video.preparing + video.reading * len(video.part.ads) for video in videos)
        cells = []
        for card in CARDS:
            plan = Namespace(slots=ads, arithmetic=ARITHMETIC_SHARE, memory=MEMORY_SHARE, at_once=BATCH)
            seconds = sum(gpu_seconds(plan, GPUS[card], how))
            cells.append(f"{seconds / HOUR:.1f} h, {seconds / 60 / 8:.0f} min, {decoding / seconds:.1f}")
        print(f"| {name} | {ads:,} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
