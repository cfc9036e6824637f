"""Is a dataset all there? What is found, what is missing, what is malformed, and whether its videos open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

from shotad.core import Progress
from shotad.core.errors import FilmError
from shotad.core.progress import plural, progress_task
from shotad.evaluation.datasets.dataset import Ad, Dataset, Video, VideoPlaces
from shotad.evaluation.datasets.tables import MALFORMED, MISSING, NOTE, Finding, tally

Json = dict[str, Any]


def check_text(check: Json) -> str:
    """What `check_dataset` found, in plain lines."""
    n = check["counts"]
    lines = [
        f"{check['title']} in {check['root']}",
        "",
        *(f"{what}: {path}" for what, path in check["files"].items()),
        "",
        f"{n['ads']:,} ADs of {n['words']:,} words in {n['clips']:,} clips of {n['films']:,} films or "
        f"episodes, {n['seconds'] / n['ads']:.2f} s each on average",
        f"{n['actions']:,} actions; {plural(int(n['without_actions']), 'AD')} without",
        f"{n['names']:,} names of {n['films_with_cast']:,} films or episodes",
        f"{n['shots']:,} shots of {n['clips_with_shots']:,} clips, of which "
        f"{n['clips_without_cut']:,} without a cut ({plural(int(n['ads_without_cut']), 'AD')})",
        f"videos of {n['videos']:,} clips, and of {n['videos_missing']:,} none",
    ]
    for level, heading in ((MISSING, "Missing"), (MALFORMED, "Malformed"), (NOTE, "Notes")):
        found = [finding for finding in check["findings"] if finding["level"] == level]
        if found:
            lines += ["", f"{heading}:", *(f"- {one['where']}: {one['what']}" for one in found)]
    if check["whole"]:
        return "\n".join([*lines, "", "Whole: all that evaluation needs is there."])
    wrong = sum(finding["level"] in (MISSING, MALFORMED) for finding in check["findings"])
    return "\n".join([*lines, "", f"Not whole: {plural(wrong, 'finding')} above must be looked at."])


def check_dataset(
    dataset: Dataset, progress: Progress, *, videos: Path | None = None, need_videos: bool = False
) -> Json:
    """What there is of a dataset, and what is missing or malformed, as JSON. ``whole``: all that evaluation
    needs is there and can be read. Its videos are opened where they are needed."""
    found: dict[Video, list[Ad]] = {}
    known: dict[str, Video] = {}
    missing: dict[str, Ad] = {}
    with progress_task(progress, "Looking for videos", len(dataset.ads), "ADs") as task:
        for ad in dataset.ads:
            video = known.get(ad.clip)
            if video is None and (ad.clip not in missing or ad.file):
                video = video_of(dataset, ad, videos)
            if video is None:
                missing.setdefault(ad.clip, ad)
            else:
                found.setdefault(video, []).append(ad)
                if not video.piece:
                    known[ad.clip] = video
            task.advance()
    clips, findings = len({ad.clip for ad in dataset.ads}), list(dataset.findings)
    if missing:
        place = next(iter(video_places(dataset, next(iter(missing.values())), videos)), None)
        looked = f" (looked for {place}, among others)" if place else ""
        what = tally(f"clips without a video, of {clips:,}{looked}", list(missing))
        findings.append(Finding(MISSING if need_videos else NOTE, str(videos or dataset.root), what))
    if need_videos:
        with progress_task(progress, "Opening videos", len(found), "videos") as task:
            for video, ads in found.items():
                findings += _look(video, ads)
                task.advance()
    return {
        "dataset": dataset.name,
        "title": dataset.title,
        "root": str(dataset.root),
        "whole": not any(finding.level in (MISSING, MALFORMED) for finding in findings),
        "files": {what: str(path) for what, path in dataset.files.items()},
        "counts": _counts(dataset, clips - len(missing)),
        "findings": [asdict(finding) for finding in findings],
    }


def _counts(dataset: Dataset, videos: int) -> dict[str, float]:
    ads, shots = dataset.ads, dataset.shots
    clips = {ad.clip for ad in ads}
    uncut = {clip for clip, one in shots.items() if not one}
    told = [ad.actions for ad in ads if ad.actions is not None]
    return {
        "ads": len(ads),
        "clips": len(clips),
        "films": len({ad.film for ad in ads}),
        "words": sum(len(ad.text.split()) for ad in ads),
        "seconds": round(sum(ad.interval.duration for ad in ads), 3),
        "actions": sum(map(len, told)),
        "without_actions": len(ads) - len(told),
        "films_with_cast": len(dataset.casts),
        "names": sum(map(len, dataset.casts.values())),
        "clips_with_shots": len(shots),
        "shots": sum(map(len, shots.values())),
        "clips_without_cut": len(uncut),
        "ads_without_cut": sum(ad.clip in uncut for ad in ads),
        "videos": videos,
        "videos_missing": len(clips) - videos,
    }


_SLACK = 1.0
"""Seconds that an AD may end after its video: padded and rounded times do."""


def _look(video: Video, ads: Sequence[Ad]) -> list[Finding]:
    """What is wrong with a video: it does not open, or ends before its ADs begin to."""
    from shotad.film import open_film

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
    problem = (
        f"it ends at {end:.1f} s, and {plural(len(late), 'AD')} of {len(ads)} after it (the last, "
        f"{last.id}, at {last.slot.end:.1f} s). Is it another edition, or cut short?"
    )
    return [Finding(MALFORMED, str(video.path), problem)]


def video_of(dataset: Dataset, ad: Ad, root: Path | None = None) -> Video | None:
    """The video of an AD, below ``root`` (None: the dataset's): its clip's film file, its numbered frames, or
    its own short piece of film. None where there is none: evaluation needs no videos."""
    for video in _candidates(dataset, ad, root):
        if video.path.exists() if video.frames_per_second else video.path.is_file():
            return video
    return None


def video_places(dataset: Dataset, ad: Ad, root: Path | None = None) -> list[Path]:
    """Where `video_of` looks, in order, so that a message can say it."""
    return [video.path for video in _candidates(dataset, ad, root)]


def _candidates(dataset: Dataset, ad: Ad, root: Path | None) -> Iterator[Video]:
    """The places with names filled in: none with an empty name, none outside the root."""
    places = dataset.description.videos if dataset.description else VideoPlaces()
    names = {"clip": ad.clip, "film": ad.film, "title": dataset.films.get(ad.film, ""), "file": ad.file}
    piece_options: dict[str, Any] = {"begins": ad.slot.start, "piece": True}
    for patterns, suffixes, video_options in (
        (places.films, places.suffixes, {}),
        (places.frames, ("",), {"frames_per_second": places.frames_per_second}),
        (places.pieces, places.suffixes, piece_options),
    ):
        for pattern in patterns:
            used = [name for name in names if f"{{{name}}}" in pattern]
            filled = pattern.format_map(names)
            complete = all(names[name] and ".." not in Path(names[name]).parts for name in used)
            for suffix in suffixes if complete and not Path(filled).is_absolute() else ():
                yield Video((root or dataset.root) / f"{filled}{suffix}", **video_options)
