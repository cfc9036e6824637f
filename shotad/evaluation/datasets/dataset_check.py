"""Check a dataset: which files it has, what is missing or malformed, and whether its videos open."""

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
from shotad.evaluation.datasets.tables import MALFORMED, MISSING, NOTE, DatasetFinding, tally

Json = dict[str, Any]


def check_text(check: Json) -> str:
    """A record of `check_dataset`, in plain lines."""
    n = check["counts"]
    clips, with_video = int(n["clips"]), int(n["videos"])
    lines = [
        f"{check['title']} in {check['root']}",
        "",
        *(f"{contents}: {path}" for contents, path in check["files"].items()),
        "",
        f"{plural(int(n['ads']), 'AD')} of {plural(int(n['words']), 'word')} in {plural(clips, 'clip')} of "
        f"{_films(n['films'])}, {n['seconds'] / n['ads']:.2f} s each on average",
        f"{plural(int(n['actions']), 'action')}; {plural(int(n['without_actions']), 'AD')} without",
        f"{plural(int(n['names']), 'name')} of {_films(n['films_with_cast'])}",
        f"{plural(int(n['shots']), 'shot')} of {plural(int(n['clips_with_shots']), 'clip')}, of which "
        f"{n['clips_without_cut']:,} without a cut ({plural(int(n['ads_without_cut']), 'AD')})",
        f"{with_video:,} of {clips:,} clips {'has' if with_video == 1 else 'have'} a video",
    ]
    for level, heading in ((MISSING, "Missing"), (MALFORMED, "Malformed"), (NOTE, "Notes")):
        findings = [finding for finding in check["findings"] if finding["level"] == level]
        if findings:
            lines += ["", f"{heading}:"]
            lines += [f"- {finding['where']}: {finding['what']}" for finding in findings]
    if check["whole"]:
        return "\n".join([*lines, "", "Whole: all that evaluation needs is there."])
    wrong = sum(finding["level"] in (MISSING, MALFORMED) for finding in check["findings"])
    return "\n".join([*lines, "", f"Not whole: {plural(wrong, 'finding')} above must be looked at."])


def _films(count: int) -> str:
    return "1 film or episode" if count == 1 else f"{count:,} films or episodes"


def check_dataset(
    dataset: Dataset, progress: Progress, *, videos: Path | None = None, need_videos: bool = False
) -> Json:
    """Counts of a dataset's parts, and findings of what is missing or malformed, as JSON.

    ``whole``: all that evaluation needs is there and can be read. ``videos`` is the folder of videos (None:
    the dataset's). With ``need_videos`` they are opened, and a missing one is an error.
    """
    ads_by_video: dict[Video, list[Ad]] = {}
    video_of_clip: dict[str, Video] = {}
    missing: dict[str, Ad] = {}
    with progress_task(progress, "Looking for videos", len(dataset.ads), "ADs") as task:
        for ad in dataset.ads:
            video = video_of_clip.get(ad.clip)
            if video is None and (ad.clip not in missing or ad.file):
                video = video_of(dataset, ad, videos)
            if video is None:
                missing.setdefault(ad.clip, ad)
            else:
                ads_by_video.setdefault(video, []).append(ad)
                if not video.piece:
                    video_of_clip[ad.clip] = video
            task.advance()
    clips, findings = len({ad.clip for ad in dataset.ads}), list(dataset.findings)
    if missing:
        first_missing = next(iter(missing.values()))
        place = next(iter(video_places(dataset, first_missing, videos)), None)
        example = f" (looked for {place}, among others)" if place else ""
        text = tally(f"clips without a video, of {clips:,}{example}", list(missing))
        findings.append(DatasetFinding(MISSING if need_videos else NOTE, str(videos or dataset.root), text))
    if need_videos:
        with progress_task(progress, "Opening videos", len(ads_by_video), "videos") as task:
            for video, ads in ads_by_video.items():
                findings += _check_video(video, ads)
                task.advance()
    return {
        "dataset": dataset.name,
        "title": dataset.title,
        "root": str(dataset.root),
        "whole": not any(finding.level in (MISSING, MALFORMED) for finding in findings),
        "files": {contents: str(path) for contents, path in dataset.files.items()},
        "counts": _counts(dataset, clips - len(missing)),
        "findings": [asdict(finding) for finding in findings],
    }


def _counts(dataset: Dataset, videos: int) -> dict[str, float]:
    ads, shots = dataset.ads, dataset.shots
    clips = {ad.clip for ad in ads}
    uncut = {clip for clip, cuts in shots.items() if not cuts}
    actions = [ad.actions for ad in ads if ad.actions is not None]
    return {
        "ads": len(ads),
        "clips": len(clips),
        "films": len({ad.film for ad in ads}),
        "words": sum(len(ad.text.split()) for ad in ads),
        "seconds": round(sum(ad.interval.duration for ad in ads), 3),
        "actions": sum(map(len, actions)),
        "without_actions": len(ads) - len(actions),
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


def _check_video(video: Video, ads: Sequence[Ad]) -> list[DatasetFinding]:
    """Findings about a video: that it does not open, or ends before some of its ``ads``."""
    from shotad.film import open_film

    rate = video.frames_per_second
    try:
        frame_rate = Fraction(rate).limit_denominator(1001) if rate else None
        with open_film(video.path, frame_rate=frame_rate) as film:
            end = video.begins + film.info.duration
    except FilmError as error:
        return [DatasetFinding(MALFORMED, str(video.path), error.what)]
    late = [ad for ad in ads if ad.slot.end > end + _SLACK]
    if not late:
        return []
    last = max(late, key=lambda ad: ad.slot.end)
    problem = (
        f"it ends at {end:.1f} s, and {plural(len(late), 'AD')} of {len(ads)} after it (the last, "
        f"{last.id}, at {last.slot.end:.1f} s). Is it another edition, or cut short?"
    )
    return [DatasetFinding(MALFORMED, str(video.path), problem)]


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
