"""Films that have audio description already."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import av
import pytest

from shotad.core import ContainerSettings
from shotad.film import open_film
from shotad.sound.ad_tracks import AdText
from shotad.sound.containers import MADE_HERE
from shotad.sound.mux_film import Written, write_film
from tests.media import FilmSpec, SoundSpec, make_film, media_folder
from tests.sound.muxmedia import CUES, METADATA, ad_sound, checked, describe_tracks, film_for

ENDINGS = (".mp4", ".mkv", ".mov", ".webm")


def written(source: Path, target: Path, language: str = "en", **settings: Any) -> Written:
    """Written and checked."""
    with open_film(source) as film:
        made = write_film(
            film, target, sound=ad_sound(film, language=language), text=AdText(CUES, language, "Descriptions"),
            settings=ContainerSettings(**settings), metadata=METADATA,
        )  # fmt: skip
        assert checked(target, film, made, language=language, cues=CUES) == ()
    return made


@functools.cache
def broadcast() -> Path:
    """A film with a describer's own AD in English."""
    from av.stream import Disposition

    spec = FilmSpec(
        suffix=".mkv",
        sounds=(SoundSpec(language="eng", default=True), SoundSpec(language="eng", title="Narrated")),
    )
    path = media_folder() / "broadcast.mkv"
    with av.open(str(make_film(spec).path)) as source, av.open(str(path), "w") as film:
        ways = [film.add_stream_from_template(stream, opaque=True) for stream in source.streams]
        for stream, way in zip(source.streams, ways, strict=True):
            way.metadata.update(stream.metadata)
            way.disposition = stream.disposition
        ways[2].disposition = Disposition.visual_impaired
        for packet in source.demux():
            if packet.size:
                packet.stream = ways[packet.stream.index]
                film.mux(packet)
    return path


def titles(path: Path) -> list[tuple[str, str, str]]:
    return [(t.kind, t.language, t.title) for t in describe_tracks(path) if t.kind != "video"]


def sounds(path: Path) -> list[str]:
    return [title for kind, _, title in titles(path) if kind == "audio"]


def remarks(path: Path) -> list[str | None]:
    """What the file says of itself, then what each of its tracks does."""
    with av.open(str(path)) as film:
        found = [film.metadata, *(stream.metadata for stream in film.streams)]
        return [{key.lower(): value for key, value in one.items()}.get("comment") for one in found]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_described_film_that_is_described_again_has_one_ad(ending: str, tmp_path: Path) -> None:
    first, again = tmp_path / f"first{ending}", tmp_path / f"again{ending}"
    assert written(film_for("plain", ending), first).replaced == ()
    made = written(first, again)
    assert made.replaced == (2, 3)
    assert titles(again) == titles(first)
    assert remarks(again) == remarks(first)
    assert remarks(again)[1:] == [None, None, MADE_HERE, MADE_HERE]
    told = [warning for warning in made.warnings if "already" in warning]
    assert len(told) == 2
    assert all("(made with shotad): the new one takes its place" in warning for warning in told)


@pytest.mark.parametrize("ending", [".mp4", ".mkv"])
def test_in_another_language_both_stay(ending: str, tmp_path: Path) -> None:
    first, again = tmp_path / f"first{ending}", tmp_path / f"again{ending}"
    written(film_for("plain", ending), first)
    made = written(first, again, language="de")
    assert made.replaced == ()
    assert sorted(language for kind, language, title in titles(again) if title) in (
        ["deu", "deu", "eng", "eng"],
        ["eng", "eng", "ger", "ger"],
    )
    assert all("stays beside the new one." in warning for warning in made.warnings)
    # The first one is known again even in its copy.
    assert len(written(again, tmp_path / f"third{ending}").replaced) == 2


def test_what_people_made_stays_unless_it_is_wished(tmp_path: Path) -> None:
    target = tmp_path / "described.mkv"
    for existing in ("auto", "keep"):
        made = written(broadcast(), target, existing=existing)
        assert made.replaced == ()
        assert "audio track 2 (eng, Narrated, aac)" in made.warnings[0]
        assert "container.existing: replace" in made.warnings[0]
        assert sounds(target) == ["", "Narrated", "Audio Description"]
    assert written(broadcast(), target, existing="replace").replaced == (2,)
    assert sounds(target) == ["", "Audio Description"]


def test_the_only_sound_of_a_film_is_never_left_out(tmp_path: Path) -> None:
    spec = FilmSpec(suffix=".mkv", sounds=(SoundSpec(language="eng", title="Audio description"),))
    made = written(make_film(spec).path, tmp_path / "described.mkv", existing="replace")
    assert made.replaced == ()
    assert sounds(tmp_path / "described.mkv") == ["Audio description", "Audio Description"]
