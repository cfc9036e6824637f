"""What ``tools/golden.py`` calls a difference: sound by its loudness, everything else by what it holds."""

from __future__ import annotations

import runpy
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from tests.media import FilmSpec, SoundSpec, make_film

TOOL = runpy.run_path(str(Path(__file__).parents[1] / "tools" / "differences.py"))
TONE = 0.1 * np.sin(np.arange(48000) / 20)[None]


def differences(base: Path, tree: Path) -> list[str]:
    return list(TOOL["file_differences"](base, tree, lambda path, text: text.replace(path.name, "")))


def with_sound(path: Path, samples: Any) -> Path:
    """A test film with this mono sound, uncompressed."""
    with av.open(str(make_film(FilmSpec(frames=24)).path)) as film, av.open(str(path), "w") as container:
        picture = container.add_stream_from_template(film.streams.video[0])
        sound: Any = container.add_stream("pcm_s24le", rate=48000, layout="mono")
        for packet in film.demux(video=0):
            if packet.dts is not None:
                packet.stream = picture
                container.mux(packet)
        values = np.round(samples * 2**31).astype(np.int32)
        frame = av.AudioFrame.from_ndarray(values, format="s32", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = 48000, 0, Fraction(1, 48000)
        container.mux(sound.encode(frame))
        container.mux(sound.encode())
    return path


@pytest.mark.parametrize(("decibels", "told"), [(-66, False), (-54, True)])
def test_sound_may_differ_by_what_nobody_hears(decibels: float, told: bool, tmp_path: Path) -> None:
    noise = np.random.default_rng(0).normal(0, 1, TONE.shape)
    noise *= np.sqrt(np.mean(TONE**2) / np.mean(noise**2)) * 10 ** (decibels / 20)
    base, tree = with_sound(tmp_path / "a.mkv", TONE), with_sound(tmp_path / "b.mkv", TONE + noise)
    assert differences(base, tree) == ["stream 1 (audio): differs by -54.0 dB"] * told


def test_a_picture_and_a_mark_of_a_stream_are_told(tmp_path: Path) -> None:
    spec = FilmSpec(frames=24, sounds=(SoundSpec(),))
    film, copy = make_film(spec).path, tmp_path / "copy.mp4"
    shutil.copy(film, copy)
    assert differences(film, copy) == []
    other = make_film(FilmSpec(frames=24, cuts=(12,), sounds=(SoundSpec(),))).path
    assert any(line.startswith("stream 0 (video): 24 → 24 packets") for line in differences(film, other))
    named = make_film(FilmSpec(frames=24, sounds=(SoundSpec(language="de"),))).path
    assert any("language" in line for line in differences(film, named))


@pytest.mark.parametrize(
    ("base", "tree", "found"),
    [
        ('{"a": [1, 2], "of": "BASE"}', '{"a": [1, 2], "of": "TREE"}', []),
        ('{"a": [1, {"b": 2}]}', '{"a": [1, {"b": 2.0}]}', [".a[1].b: 2 → 2.0"]),
        (f'["{"x" * 200}y"]', f'["{"x" * 200}z"]', [f"[0]: '{'x' * 40}y' → '{'x' * 40}z'"]),
        ('{"a": 1}\n{"a": 2}\n', '{"a": 1}\n', [": 2 → 1 entries"]),
        ('{"a": 1}', '{"b": 1}', [".a: only in BASE", ".b: only in the working tree"]),
        ('{"a": 1}', '{ "a": 1}', ["the same values, written otherwise"]),
        ("one\ntwo\n", "one\nthree\n", ["-two", "+three"]),
        ("one\n", "one\r\n", ["line ends differ"]),
    ],
)
def test_texts_are_told_by_place(base: str, tree: str, found: list[str], tmp_path: Path) -> None:
    paths = tmp_path / "BASE", tmp_path / "TREE"
    for path, text in zip(paths, (base, tree), strict=True):
        path.write_bytes(text.encode())
    assert differences(*paths) == found
