"""Peaks and loudness in finished files, as players decode them: what was promised, and what is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from shotad.core import Interval
from shotad.sound import Loudness
from shotad.sound.levels import PROFILES
from shotad.sound.loudness import measure
from tests.rendering.described import rendered, write_folder
from tests.sound.tones import Samples, SoundFilm, blocks, noise

METER = 0.15
"""dB by which a file may pass its limit: what meters differ by."""

SECONDS = 9.0
SPEECH = (Interval(0.0, 1.5),)
LINES = {2.0: "Rain falls on the empty street."}

EVERY = ("mix:wav", "mix:flac", "mix:mp3", "mix:opus", "mix:m4a", "ad:opus",
         "film:mp4", "film:mkv", "film:mov", "film:ts")  # fmt: skip


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Noise that is far too loud, up to full scale: every sample near the limit."""
    wave = (noise(SECONDS, 5, channels=2) * np.float32(0.6)).clip(-0.98, 0.98)
    return SoundFilm(wave, codec="ac3", seconds=SECONDS).make(tmp_path_factory.mktemp("loud") / "film.mkv")


def in_file(path: Path) -> Loudness:
    """The AD's sound in a file, decoded as players do: the last track of it."""
    import av

    with av.open(str(path)) as container:
        stream, parts = container.streams.audio[-1], list[Samples]()
        resampler = av.AudioResampler(format="flt", layout=stream.codec_context.layout)
        for frame in container.decode(stream):
            frame.pts = None
            for out in resampler.resample(frame):
                parts.append(np.asarray(out.to_ndarray(), np.float32).reshape(out.samples, -1))
        return measure(
            blocks(np.concatenate(parts), stream.rate), stream.codec_context.layout.name, stream.rate
        )


@pytest.mark.parametrize(("profile", "makes"), [
    ("source", ("film:mp4", "mix:opus", "ad:opus")),
    ("netflix", ("film:mkv", "mix:mp3", "mix:wav")),
    ("ebu-r128", ("mix:m4a", "film:mov")),
    pytest.param("source", EVERY, marks=pytest.mark.slow),
    pytest.param("atsc-a85", ("mix:flac", "ad:opus", "film:ts"), marks=pytest.mark.slow),
    pytest.param("web", ("mix:mp3", "mix:opus", "film:mp4"), marks=pytest.mark.slow),
])  # fmt: skip
def test_every_file_keeps_the_peaks_of_its_profile_and_tells_them(profile, makes, film, tmp_path):
    place = write_folder(tmp_path / "w", film, LINES, SPEECH)
    done, _ = rendered(place, *makes, film=film, settings=(f"mix.profile={profile}",))
    assert not [finding for finding in done.findings if finding.rule == "A1"]
    limit = 0.0 if profile == "source" else PROFILES[profile].true_peak
    for one in done.made:
        found = in_file(one.wanted.path)
        assert found.true_peak is not None
        assert found.true_peak <= limit + METER, one.wanted.path.name
        assert one.sound is not None
        assert one.sound["loudness"]["true_peak"] == pytest.approx(found.true_peak, abs=0.1)
        assert one.sound["loudness"]["integrated"] == pytest.approx(found.integrated, abs=0.1)
        assert f"peaks {one.sound['loudness']['true_peak']:.1f} dBTP" in one.told[0]


@pytest.mark.parametrize("make", ["mix:m4a", "film:mkv"])
def test_where_the_room_for_a_coder_is_too_small_it_is_written_again(make, film, tmp_path, monkeypatch):
    monkeypatch.setattr("shotad.sound.making.ROOM", {})
    place = write_folder(tmp_path / "w", film, LINES, SPEECH)
    done, _ = rendered(place, make, film=film, settings=("mix.true_peak=-2", "container.codec=opus"))
    peak = in_file(done.made[0].wanted.path).true_peak
    assert peak is not None
    assert -4 < peak <= -2 + METER
    assert done.findings == ()


def test_what_cannot_be_kept_is_an_error_with_the_figure_of_the_file(film, tmp_path, monkeypatch):
    monkeypatch.setattr("shotad.sound.making.ROOM", {})
    monkeypatch.setattr("shotad.sound.making.ROUNDS", 1)
    done, _ = rendered(write_folder(tmp_path / "w", film, LINES, SPEECH), "mix:opus", film=film)
    peak = in_file(done.made[0].wanted.path).true_peak
    assert [finding.rule for finding in done.findings] == ["A1"]
    assert f"reach {peak:.1f} dBTP" in done.findings[0].message
