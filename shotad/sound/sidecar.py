"""The described sound as a file of its own beside the film, as media servers find it: ``Film.en.ad.mka``.

Jellyfin (10.8 and later) and Kodi take a sound file for a track of a film where it lies in the same folder
and its name begins with that of the film; Jellyfin reads a language from the name where the file states none.
Plex reads no sound outside of the film: for it the film itself needs the track (``--make film``). The track
says its language and title, that it is for visually impaired people, and that it is not the default: nobody
hears it who did not choose it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from shotad.core import Progress
from shotad.core.progress import progress_task
from shotad.sound.ad_tracks import AdSound, Coding, add_sound, sound_packets
from shotad.sound.containers import MKV, ad_track_tags, film_tags, track_title
from shotad.sound.files import written_by_ffmpeg
from shotad.sound.mux_film import write_interleaved


def write_sidecar(
    path: Path,
    sound: AdSound,
    coding: Coding,
    *,
    seconds: float,
    language: str,
    tags: Mapping[str, str],
    progress: Progress,
) -> Path:
    """Write a Matroska file with the described sound alone, ``seconds`` long. It appears when it is whole.

    ``tags`` are metadata of the file. Raises SoundError where the coder refuses, WorkFolderError where it
    cannot be written.
    """
    import av
    from av.stream import Disposition

    with (
        written_by_ffmpeg(path, "Set container.codec to another codec.") as part,
        av.open(str(part), "w", format=MKV.muxer, options=dict(MKV.options)) as output,
        progress_task(progress, f"Writing {path.name}", seconds, "s") as task,
    ):
        output.metadata.update(film_tags({}, tags, MKV, path.name))
        stream = add_sound(output, coding)
        # Not the default: `default` is absent, and the muxer passes on what is said here.
        stream.disposition = Disposition.visual_impaired | Disposition.descriptions
        stream.metadata.update(ad_track_tags(language, track_title(language), MKV))
        packets = sound_packets(stream, sound, coding, seconds, MKV.hides)
        write_interleaved(output, [packets], seconds, task)
    return path
