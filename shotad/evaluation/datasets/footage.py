"""Do a dataset's videos open, and do they last as long as their ADs?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from shotad.core.errors import FilmError
from shotad.core.progress import Progress, reported
from shotad.evaluation.datasets.ads import Ad, Dataset, Finding, Video
from shotad.evaluation.datasets.findings import MALFORMED, MISSING, NOTE, number_of, tally
from shotad.evaluation.datasets.videos import video_of, video_places

_SLACK = 1.0
"""Seconds that an AD may end after its video: padded and rounded times do."""


@dataclass(frozen=True, slots=True)
class Footage:
    """The videos there are, each with its ADs, and the clips of which an AD has none (its first such AD)."""

    videos: Mapping[Video, tuple[Ad, ...]]
    missing: Mapping[str, Ad]
    root: Path

    def findings(self, dataset: Dataset, *, needed: bool) -> list[Finding]:
        """One about the videos that are missing, or none."""
        if not self.missing:
            return []
        clips = len({ad.clip for ad in dataset.ads})
        place = next(iter(video_places(dataset, next(iter(self.missing.values())), self.root)), None)
        looked = f" (looked for {place}, among others)" if place else ""
        what = f"clips without a video, of {clips:,}{looked}"
        level = MISSING if needed else NOTE
        return [Finding(level, str(self.root), tally(what, list(self.missing)))]


def find_footage(dataset: Dataset, root: Path | None, progress: Progress) -> Footage:
    """The video of each AD, below ``root`` (None: the dataset's)."""
    videos: dict[Video, list[Ad]] = {}
    clips: dict[str, Video] = {}
    missing: dict[str, Ad] = {}
    with reported(progress, "Looking for videos", len(dataset.ads), "ADs") as task:
        for ad in dataset.ads:
            video = clips.get(ad.clip)
            if video is None and (ad.clip not in missing or ad.file):
                video = video_of(dataset, ad, root)
            if video is None:
                missing.setdefault(ad.clip, ad)
            else:
                videos.setdefault(video, []).append(ad)
                if not video.piece:
                    clips[ad.clip] = video
            task.advance()
    found = {video: tuple(ads) for video, ads in videos.items()}
    return Footage(found, missing, root or dataset.root)


def look_into(footage: Footage, progress: Progress) -> list[Finding]:
    """What is wrong with the videos: those that do not open, and those that end before their ADs begin to."""
    found: list[Finding] = []
    with reported(progress, "Opening videos", len(footage.videos), "videos") as task:
        for video, ads in footage.videos.items():
            found += _look(video, ads)
            task.advance()
    return found


def _look(video: Video, ads: Sequence[Ad]) -> list[Finding]:
    from shotad.film.opening import open_film

    rate = video.frames_per_second
    try:
        frame_rate = Fraction(rate).limit_denominator(1001) if rate else None
        with open_film(video.path, frame_rate=frame_rate) as film:
            end = video.begins + film.info.duration
    except FilmError as error:
        return [Finding(MALFORMED, str(video.path), error.what)]
    late = [ad for ad in ads if ad.slot.end > end + _SLACK]
    if not late:
        return []
    last = max(late, key=lambda ad: ad.slot.end)
    what = (
        f"it ends at {end:.1f} s, and {number_of(len(late), 'AD')} of {len(ads)} after it (the last, "
        f"{last.id}, at {last.slot.end:.1f} s). Is it another edition, or cut short?"
    )
    return [Finding(MALFORMED, str(video.path), what)]
