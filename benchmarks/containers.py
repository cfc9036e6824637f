"""What survives in each container, and what writing a described film costs beside plain copying.

    python benchmarks/containers.py [FILM] [--minutes 5]

Without FILM, one of ``--minutes`` is made (H.264 and AAC; VP8 and Opus for WebM), with a tone every ten
seconds in place of AD. Prints two Markdown tables.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from shotad.core import ContainerSettings, Interval
from shotad.film import SoundBlock, open_film
from shotad.sound.ad_tracks import AdSound, AdText, Written
from shotad.sound.check_film import Expected, Track, check_film, describe_tracks
from shotad.sound.mux_film import write_film

RATE = 48000
ENDINGS = (".mp4", ".mkv", ".ts", ".m2ts", ".mov", ".webm")


def make_film(path: Path, minutes: float) -> Path:
    """A grey film with a soft noise, coded quickly."""
    import av

    webm = path.suffix == ".webm"
    rng = np.random.default_rng(1)
    with av.open(str(path), "w") as film:
        picture: Any = film.add_stream("libvpx" if webm else "libx264", rate=25)
        picture.width, picture.height, picture.pix_fmt = 320, 180, "yuv420p"
        if not webm:
            picture.options = {"preset": "ultrafast"}
        sound: Any = film.add_stream("libopus" if webm else "aac", rate=RATE, layout="stereo")
        noise = (rng.standard_normal((1, 2 * RATE)) * 0.05).astype(np.float32)
        for second in range(round(minutes * 60)):
            for number in range(25):
                frame = av.VideoFrame.from_ndarray(
                    np.full((270, 320), 60 + second % 120, np.uint8), "yuv420p"
                )
                frame.pts, frame.time_base = second * 25 + number, Fraction(1, 25)
                film.mux(picture.encode(frame))
            block = av.AudioFrame.from_ndarray(noise, format="flt", layout="stereo")
            block.sample_rate, block.pts, block.time_base = RATE, second * RATE, Fraction(1, RATE)
            film.mux(sound.encode(block))
        film.mux(picture.encode(None))
        film.mux(sound.encode(None))
    return path


def tones(seconds: float) -> Iterator[SoundBlock]:
    """Silence with a tone of half a second every ten."""
    tone = (0.3 * np.sin(2 * np.pi * 440 * np.arange(RATE // 2) / RATE)).astype(np.float32)
    for second in range(int(seconds) + 1):
        block = np.zeros((RATE, 2), np.float32)
        if second % 10 == 5:
            block[: len(tone)] = tone[:, None]
        yield SoundBlock(float(second), block)


def described(source: Path, target: Path) -> tuple[Written, float, float, int]:
    """The film with AD: what was written, seconds of writing and of checking, number of findings."""
    with open_film(source) as film:
        cues = [(Interval(t + 5.0, t + 7.0), f"Line {t}.") for t in range(0, int(film.info.duration) - 8, 10)]
        begun = time.perf_counter()
        made = write_film(
            film,
            target,
            sound=AdSound(tones(film.info.duration), "stereo", RATE, "en", "Audio Description"),
            text=AdText(cues, "en", "Descriptions"),
            settings=ContainerSettings(),
            metadata={"comment": "Audio description made by machine.", "reviewer": "Ann"},
        )
        between = time.perf_counter()
        wanted = Expected("en", "Audio Description", cues=cues, text_title="Descriptions", written=made)
        findings = check_film(target, film, wanted)
        for finding in findings:
            print(f"{target.suffix}: {finding}", file=sys.stderr)
        return made, between - begun, time.perf_counter() - between, len(findings)


def copied(source: Path, target: Path) -> float | None:
    """Seconds of a plain copy by the ffmpeg program, where there is one."""
    program = shutil.which("ffmpeg")
    if program is None:
        return None
    begun = time.perf_counter()
    subprocess.run(
        [program, "-v", "error", "-y", "-i", str(source), "-map", "0", "-c", "copy", str(target)], check=True
    )
    return time.perf_counter() - begun


def _yes(said: bool) -> str:
    return "yes" if said else "no"


def survives(ending: str, tracks: list[Track]) -> str:
    """A row: what the AD's tracks still say of themselves."""
    voice = [t for t in tracks if t.kind == "audio"][-1]
    text = next((t for t in tracks if t.kind == "subtitle"), None)
    cells = [
        ending,
        voice.codec,
        voice.language or "no",
        _yes(bool(voice.title)),
        _yes(bool(voice.handler)),
        _yes("visual_impaired" in voice.marks),
        _yes("descriptions" in voice.marks),
        _yes(any("default" in t.marks for t in tracks)),
        "no track" if text is None else f"{text.codec}, {_yes('descriptions' in text.marks)}",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("film", nargs="?", type=Path)
    parser.add_argument("--minutes", type=float, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        if asked.film is None:
            films = {kind: make_film(home / f"film.{kind}", asked.minutes) for kind in ("mp4", "webm")}
        else:
            films = dict.fromkeys(("mp4", "webm"), asked.film)
        rows, costs = [], []
        for ending in ENDINGS:
            source = films["webm" if ending == ".webm" else "mp4"]
            target = home / f"described{ending}"
            try:
                made, wrote, checked, wrong = described(source, target)
            except Exception as error:  # noqa: BLE001  a table has a row for what cannot be
                rows.append(f"| {ending} | {error} |")
                continue
            rows.append(survives(ending, describe_tracks(target)))
            plain = copied(source, home / f"plain{ending}")
            size = target.stat().st_size / 2**20
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            told = "no ffmpeg" if plain is None else f"{plain:.2f}"
            cells = [
                ending,
                made.codec,
                f"{size:.0f}",
                told,
                f"{wrote:.2f}",
                f"{checked:.2f}",
                f"{peak:.0f}",
                wrong,
            ]
            costs.append(f"| {' | '.join(map(str, cells))} |")
            target.unlink()
    print("| container | AD | language | title | handler | visual_impaired | descriptions | default | text |")
    print("|---|---|---|---|---|---|---|---|---|")
    print("\n".join(rows))
    print("\n| container | AD | MiB | plain copy s | written s | checked s | peak MiB so far | findings |")
    print("|---|---|---|---|---|---|---|---|")
    print("\n".join(costs))


if __name__ == "__main__":
    main()
