"""Fit a recording to a film by their sound."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from shotad.core import Interval
from shotad.core.errors import SoundError
from shotad.core.types import clock_time
from shotad.sound.alignment.edges import Moment, change_between, end_of, start_of
from shotad.sound.alignment.fingerprints import Fingerprint, Matrix
from shotad.sound.alignment.lines import (
    NEAR,
    Gap,
    Line,
    Point,
    fitted_line,
    line_by_wave,
    lines_along,
    measured_offsets,
    rough_line,
)
from shotad.sound.alignment.pieces import SAME_LENGTH, AlignedPiece, Alignment
from shotad.sound.alignment.repeats import placed_lines
from shotad.sound.alignment.search import (
    COARSE_PER_SECOND,
    MIN_LIKENESS,
    Match,
    best_chain,
    coarse_frames,
    find_matches,
)

MIN_SECONDS = 4.0
"""Seconds of sound below which nothing is said."""
SPEEDS = tuple(round(1 + step / 100, 2) for step in range(-6, 7))
"""Film seconds in one second of the recording that are tried: television's 25/24 and 24/25, and what lies
between."""

_MIN_LOUD = 0.02
"""Share of frames with sound below which a sound counts as silence."""
_LONG_FILM = 1200.0
_WINDOW, _STEP = 5.0, 1.0
"""Seconds of a window of the search, and from one to the next."""
_LONG_WINDOW, _LONG_STEP = 10.0, 4.0
"""The same for long films, where a window has to be told from more places."""
_SHORT_WINDOW, _SHORT_STEP = 3.0, 0.5
"""The same between two pieces, where there are few places, and for short recordings."""
_SHORT_RECORDING = 30.0
"""Seconds of a recording that is searched once more by short windows, if others find nothing."""
_FEW_SECONDS = 60.0
"""Seconds of the recording between two pieces that are few. They are searched again with longer windows, and
less likeness counts: there are few places for chance."""
_LONGEST_WINDOW = 10.0
"""Seconds of these windows; shorter where they would be more than half of what is searched."""
_LEAST_OF_FEW = 2.5
"""Standard deviations from which a place counts there. What they prove is decided by the line's evidence."""
_PROBES = 40
"""Windows of which all speeds are tried."""
_MIN_GAP = 3.5
"""Seconds of film and of recording between two pieces in which another is looked for."""
_MIN_EVIDENCE = 30.0
"""Nats: of all pairs of seconds of two long films, e**19, none is so much alike by chance."""
_EVIDENCE_OF_FEW = 14.0
"""Nats that are enough beyond the logarithm of the pairs of seconds, where these are few."""
_SURE_SECONDS = 10.0
"""Seconds of sound that mostly give this evidence, where narrator and coding leave half of the likeness."""
_MIN_CONFIDENCE = 0.25
_SHORT_LINE = 30.0
"""Seconds of a line that are too few to say its speed, where others say it better."""
_AS_GOOD = 0.6
"""Share of a line's evidence that it keeps at the speed of the others, if that is its speed."""
_COMMON_SPEEDS = (1.0, 25 / 24, 24 / 25, 1001 / 1000, 1000 / 1001, 25 * 1001 / 24000, 24000 / 25025)
"""Speeds of films and television. Lines that are too few to say their speed have the best of these."""
_SPEED_STEP = 0.001
"""Between other speeds that are tried for such lines."""
_SPEED_REACH = 0.012
"""How far a speed of the search, which tries steps of 1 %, may be from the best one."""
_BETTER = 1.15
"""Times the evidence of the best common speed that another speed must have."""
_EDGE = 0.025
"""Seconds from the limit of what was looked at, within which a change may as well lie beyond it."""
_ALL_OF_IT = 0.5
"""Seconds by which the beginnings, or the ends, of film and recording may differ on a line and still be the
same moment."""
_NOTHING = 0.05
"""Seconds at either end of film and recording that are too few to say that they are missing."""
_MOST_MOVED = 0.05
"""Share of the recording that may hold sounds of the film that stand elsewhere in it."""
_MIN_SHARE = 0.1
"""Share of the recording that has to be found in the film."""


def align_recording(film: Fingerprint, recording: Fingerprint) -> Alignment:
    """Which parts of the recording hold which parts of the film.

    Raises SoundError where one of them is too short or silent, where nearly nothing of the recording is found
    in the film, and where its parts stand in another order.
    """
    for name, sound in (("film", film), ("recording", recording)):
        if sound.duration < MIN_SECONDS:
            raise SoundError(
                f"The sound of the {name} lasts {sound.duration:.1f} s.",
                f"To compare two sounds takes {MIN_SECONDS:.0f} s of each.",
            )
        if sound.loud < _MIN_LOUD:
            raise SoundError(f"The sound of the {name} is silent.", "Check the file, or name another track.")
    length, step = _window_and_step(film, recording)
    lines = _search(film, recording, length, step)
    if not lines and recording.duration <= _SHORT_RECORDING:
        # Between a cut and a narrator there is little time: more of the shorter windows hold the film alone.
        length, step = _SHORT_WINDOW, _SHORT_STEP
        lines = _search(film, recording, length, step)
    lines = _with_common_speed(film, recording, lines)
    lines = _with_best_speed(film, recording, lines)
    lines = _with_lines_between(film, recording, lines)
    # Music that comes back may have put a line at another place of the film.
    lines, ambiguous = placed_lines(film, recording, lines)
    lines = [line_by_wave(film, recording, line) for line in _joined(film, recording, lines)]
    pieces = _pieces(film, recording, lines, length)
    # Now that it is known how far each line is followed, more of the recording says where it lies.
    lines = _fitted_again(film, recording, lines, pieces)
    # A line that was extended over sound that has little of the film is no piece any more.
    lines = [line for line in lines if line.confidence >= _MIN_CONFIDENCE]
    pieces = _pieces(film, recording, lines, length)
    share = sum(piece.recording.duration for piece in pieces) / min(film.duration, recording.duration)
    if share < _MIN_SHARE:
        if ambiguous:
            raise _fits_several_places(ambiguous)
        raise _not_enough(film, recording, share)
    return Alignment(tuple(pieces), film.duration, recording.duration, tuple(ambiguous))


def _fits_several_places(parts: Sequence[Interval]) -> SoundError:
    longest = max(parts, key=lambda part: part.duration)
    return SoundError(
        f"The recording fits several places of the film: its sound from {clock_time(longest.start)} to "
        f"{clock_time(longest.end)} comes back in it.",
        "Take a longer part of the recording, with speech or noises of the film in it.",
    )


def _not_enough(film: Fingerprint, recording: Fingerprint, share: float) -> SoundError:
    """Why so small a share of the recording is found in the film, as far as that can be said."""
    name, sound = min(("film", film), ("recording", recording), key=lambda named: named[1].duration)
    if sound.duration < _SURE_SECONDS:
        return SoundError(
            f"The sound of the {name} lasts {sound.duration:.1f} s: too short to be sure where it belongs.",
            f"From {_SURE_SECONDS:.0f} s on a recording is mostly found.",
        )
    percent = round(100 * (SPEEDS[-1] - 1))
    hint = (
        "Is it a recording of this film, with its sound under the description? It may run up to "
        f"{percent} % faster or slower."
    )
    if sound.duration < _SHORT_LINE:
        hint += f" In {sound.duration:.0f} s of sound, a cut and a narrator may leave too little to be sure."
    if abs(film.duration - recording.duration) <= SAME_LENGTH:
        hint += " Both are equally long: if it is the description alone, use --alone with --make."
    return SoundError(f"Only {share:.0%} of the recording's sound is found in the film.", hint)


def _window_and_step(film: Fingerprint, recording: Fingerprint) -> tuple[float, float]:
    """How many seconds a window of the search is long, and how many lie from one to the next."""
    if film.duration > _LONG_FILM:
        length, step = _LONG_WINDOW, _LONG_STEP
    else:
        length, step = _WINDOW, _STEP
    return min(length, film.duration / 2, recording.duration / 2), step


def _search(film: Fingerprint, recording: Fingerprint, length: float, step: float) -> list[Line]:
    """The lines that are found by windows of the whole recording in the whole film; ``length`` is seconds of
    a window, ``step`` seconds from one to the next."""
    coarse_film, coarse_recording = coarse_frames(film.frames), coarse_frames(recording.frames)
    starts = np.arange(0.0, recording.duration - length, step).tolist()
    speeds = _likely_speeds(coarse_film, coarse_recording, starts, length)
    matches = find_matches(coarse_film, coarse_recording, starts, length, speeds)
    lines = _fitted_lines(film, recording, matches, length)
    _check_order(film, recording, matches, length, lines)
    return lines


def _fitted_lines(
    film: Fingerprint, recording: Fingerprint, matches: Sequence[Match], length: float
) -> list[Line]:
    """The lines of the best chain of ``matches``, without those that may be chance.

    ``length`` is seconds of a window.
    """
    lines: list[Line] = []
    for group in best_chain(matches):
        line = rough_line(group, length)
        # The second time from nearer by: the first line may lean by more than a window's reach.
        line = fitted_line(line, measured_offsets(film, recording, line))
        lines += lines_along(line, measured_offsets(film, recording, line))
    return _proven(lines, film.duration, recording.duration)


def _check_order(
    film: Fingerprint,
    recording: Fingerprint,
    matches: Sequence[Match],
    length: float,
    lines: Sequence[Line],
) -> None:
    """Raise SoundError where parts of the film that no line holds stand elsewhere in the recording, and make
    up more than `_MOST_MOVED` of it."""
    free = [
        match
        for match in matches
        if not any(
            line.start < match.recording < line.end
            or line.film_second(line.start) < match.film < line.film_second(line.end)
            for line in lines
        )
    ]
    moved = []
    for free_line in _fitted_lines(film, recording, free, length):
        middle = (free_line.start + free_line.end) / 2
        film_middle = free_line.film_second(middle)
        for line in lines:
            is_before = (line.start + line.end) / 2 < middle
            if is_before != (line.film_second((line.start + line.end) / 2) < film_middle):
                moved.append(free_line)
                break
    # Music may come back elsewhere, in an advert or over the credits; scenes in another order are longer.
    if sum(line.end - line.start for line in moved) < _MOST_MOVED * recording.duration:
        return
    longest = max(moved, key=lambda line: line.end - line.start)
    middle = (longest.start + longest.end) / 2
    place = clock_time(longest.film_second(middle))
    raise SoundError(
        f"The recording has parts of the film in another order: at {clock_time(middle)} it holds {place} of "
        "the film.",
        "Cut the recording there, and fit its parts one by one.",
    )


def _likely_speeds(film: Matrix, recording: Matrix, starts: Sequence[float], length: float) -> list[float]:
    """The speeds at which windows of the recording are found best, of neighbours the best alone."""
    probes = starts[:: max(1, len(starts) // _PROBES)]
    votes = dict.fromkeys(SPEEDS, 0.0)
    best_of_probe: dict[float, tuple[float, float]] = {}
    for match in find_matches(film, recording, probes, length, SPEEDS):
        best = best_of_probe.get(match.recording, (0.0, 1.0))
        best_of_probe[match.recording] = max(best, (match.likeness, match.speed))
    for likeness, speed in best_of_probe.values():
        votes[speed] += likeness**2
    likely: list[float] = []
    for speed, vote in sorted(votes.items(), key=lambda item: (-item[1], abs(item[0] - 1))):
        is_weak = likely and vote < 0.2 * votes[likely[0]]
        if not is_weak and all(abs(speed - other) > 0.011 for other in likely):
            likely.append(speed)
    return likely


def _proven(lines: Sequence[Line], film_seconds: float, recording_seconds: float) -> list[Line]:
    """The lines that are no chance, where so many seconds of film and recording were compared."""
    least = min(_MIN_EVIDENCE, _EVIDENCE_OF_FEW + math.log(film_seconds * recording_seconds))
    return [line for line in lines if line.evidence >= least and line.confidence >= _MIN_CONFIDENCE]


def _usual_speed(lines: Sequence[Line]) -> float:
    """The speed that most of the recording has."""
    ordered = sorted(lines, key=lambda line: line.speed)
    # Long lines say it better than many short ones.
    weights = np.cumsum([line.span**2 for line in ordered])
    return ordered[int(np.searchsorted(weights, weights[-1] / 2))].speed


def _with_common_speed(film: Fingerprint, recording: Fingerprint, lines: Sequence[Line]) -> list[Line]:
    """The lines, short ones at the speed of the long ones where that fits as well."""
    if not lines:
        return []
    speed = _usual_speed(lines)
    fitted: list[Line] = []
    for line in lines:
        if line.span < _SHORT_LINE and line.speed != speed:
            middle = (line.start + line.end) / 2
            turned = replace(line, at=line.film_second(middle), origin=middle, speed=speed)
            turned = fitted_line(turned, measured_offsets(film, recording, turned), turn=False)
            fitted.append(turned if turned.evidence >= _AS_GOOD * line.evidence else line)
        else:
            fitted.append(line)
    return fitted


def _with_best_speed(film: Fingerprint, recording: Fingerprint, lines: Sequence[Line]) -> list[Line]:
    """The lines; where all of them are too short to say their speed, at the speed at which they fit best."""
    if not lines or max(line.span for line in lines) >= _SHORT_LINE:
        return list(lines)
    usual = _usual_speed(lines)
    steps = round(_SPEED_REACH / _SPEED_STEP)
    best = max(
        (_at_speed(film, recording, lines, usual + step * _SPEED_STEP) for step in range(-steps, steps + 1)),
        key=_evidence_of_all,
    )
    best_common = max(
        (
            _at_speed(film, recording, lines, speed)
            for speed in _COMMON_SPEEDS
            if abs(speed - usual) <= _SPEED_REACH
        ),
        key=_evidence_of_all,
        default=[],
    )
    return best if _evidence_of_all(best) > _BETTER * _evidence_of_all(best_common) else best_common


def _at_speed(film: Fingerprint, recording: Fingerprint, lines: Sequence[Line], speed: float) -> list[Line]:
    """The lines turned round their middles to that speed, and fitted again."""
    turned: list[Line] = []
    for line in lines:
        middle = (line.start + line.end) / 2
        at_speed = replace(line, at=line.film_second(middle), origin=middle, speed=speed)
        turned.append(fitted_line(at_speed, measured_offsets(film, recording, at_speed), turn=False))
    return turned


def _evidence_of_all(lines: Sequence[Line]) -> float:
    return sum(line.evidence for line in lines)


def _with_lines_between(film: Fingerprint, recording: Fingerprint, lines: Sequence[Line]) -> list[Line]:
    """The lines, and shorter ones that are found between them, before them and after them."""
    if not lines:
        return []
    speed = _usual_speed(lines)
    all_lines: list[Line] = []
    last_point = Point(0.0, 0.0)
    for line in lines:
        all_lines += _lines_in(film, recording, speed, Gap(last_point, line.first_point))
        all_lines.append(line)
        last_point = line.last_point
    end = Point(film.duration, recording.duration)
    return all_lines + _lines_in(film, recording, speed, Gap(last_point, end))


def _lines_in(film: Fingerprint, recording: Fingerprint, speed: float, gap: Gap) -> list[Line]:
    """The lines in a gap; if short windows give none and the gap is short, those of longer windows."""
    if gap.film_seconds < _MIN_GAP or gap.recording_seconds < _MIN_GAP:
        return []
    matches = _matches_in(film, recording, speed, gap, _SHORT_WINDOW, MIN_LIKENESS)
    lines = _lines_of_groups(film, recording, best_chain(matches), _SHORT_WINDOW, gap)
    if not lines and gap.recording_seconds <= _FEW_SECONDS:
        length = min(_LONGEST_WINDOW, max(_SHORT_WINDOW, gap.recording_seconds / 2))
        matches = _matches_in(film, recording, speed, gap, length, _LEAST_OF_FEW)
        groups = best_chain(matches, _LEAST_OF_FEW)
        lines = _lines_of_groups(film, recording, groups, length, gap)
    return lines


def _matches_in(
    film: Fingerprint, recording: Fingerprint, speed: float, gap: Gap, length: float, least: float
) -> list[Match]:
    """The matches in a gap of windows of ``length`` seconds; ``least`` is the likeness from which a place
    counts."""
    film_first = max(0, round(gap.start.film * COARSE_PER_SECOND))
    film_end = max(0, round(gap.end.film * COARSE_PER_SECOND))
    first = max(0, round(gap.start.recording * COARSE_PER_SECOND))
    end = max(0, round(gap.end.recording * COARSE_PER_SECOND))
    film_part = coarse_frames(film.frames)[film_first:film_end]
    part = coarse_frames(recording.frames)[first:end]
    starts = np.arange(0.0, len(part) / COARSE_PER_SECOND - length, _SHORT_STEP).tolist()
    if not starts:
        return []
    matches: list[Match] = []
    for match in find_matches(film_part, part, starts, length, [speed], least):
        film_second = match.film + film_first / COARSE_PER_SECOND
        second = match.recording + first / COARSE_PER_SECOND
        matches.append(replace(match, film=film_second, recording=second))
    return matches


def _lines_of_groups(
    film: Fingerprint, recording: Fingerprint, groups: Sequence[Sequence[Match]], length: float, gap: Gap
) -> list[Line]:
    """The lines of groups of matches in a gap; ``length`` is seconds of a window."""
    lines: list[Line] = []
    for group in groups:
        line = rough_line(group, length)
        start, end = max(gap.start.recording, line.start), min(gap.end.recording, line.end)
        line = replace(line, start=start, end=end)
        lines.append(fitted_line(line, measured_offsets(film, recording, line), turn=False))
    return _proven(lines, gap.film_seconds, gap.recording_seconds)


def _joined(film: Fingerprint, recording: Fingerprint, lines: Sequence[Line]) -> list[Line]:
    """The lines; neighbours that agree are made one: between them a narrator speaks alone, or nobody."""
    joined: list[Line] = []
    for line in lines:
        if joined and joined[-1].goes_on_in(line):
            earlier = joined[-1]
            both = replace(earlier if earlier.span >= line.span else line, start=earlier.start, end=line.end)
            fitted = fitted_line(both, measured_offsets(film, recording, both))
            if fitted.evidence > max(earlier.evidence, line.evidence):
                joined[-1] = fitted
                continue
        joined.append(line)
    return joined


def _fitted_again(
    film: Fingerprint, recording: Fingerprint, lines: Sequence[Line], pieces: Sequence[AlignedPiece]
) -> list[Line]:
    """The lines that have a piece, fitted to all of it."""
    fitted: list[Line] = []
    for line in lines:
        middle = (line.start + line.end) / 2
        piece = next((piece for piece in pieces if piece.recording.contains(middle)), None)
        if piece is not None:
            longer = replace(line, start=piece.recording.start, end=piece.recording.end)
            offsets = measured_offsets(film, recording, longer)
            fitted.append(fitted_line(longer, offsets, turn=longer.span >= _SHORT_LINE))
    lines = _with_common_speed(film, recording, fitted)
    return [line_by_wave(film, recording, line) for line in lines]


def _pieces(
    film: Fingerprint, recording: Fingerprint, lines: Sequence[Line], reach: float
) -> list[AlignedPiece]:
    """The piece on each of the lines, from where the recording joins it to where it leaves it.

    ``reach`` is seconds inside a line's end in which the recording may have left it already: a window of the
    search that lies mostly beyond it is still found. A line that is not followed at all has no piece.
    """
    if not lines:
        return []
    joins, leaves = [_first_second(film, recording, lines[0], reach)], []
    for earlier, later in pairwise(lines):
        leave, join = _change(film, recording, earlier, later, joins[-1].second, reach)
        leaves.append(leave)
        joins.append(join)
    leaves.append(_last_second(film, recording, lines[-1], reach))
    pieces: list[AlignedPiece] = []
    film_end = recording_end = 0.0
    for line, join, leave in zip(lines, joins, leaves, strict=True):
        # Rounding may let two pieces overlap by less than a frame.
        start = max(join.second, recording_end, line.recording_second(film_end))
        end = min(leave.second, recording.duration, line.recording_second(film.duration))
        film_start = max(line.film_second(start), film_end)
        film_stop = min(line.film_second(end), film.duration)
        if end - start > NEAR and film_stop - film_start > NEAR:
            piece = AlignedPiece(
                Interval(film_start, film_stop),
                Interval(start, end),
                line.confidence,
                line.residual,
                join.error,
                leave.error,
            )
            pieces.append(piece)
            film_end, recording_end = piece.film.end, piece.recording.end
    return pieces


def _change(
    film: Fingerprint, recording: Fingerprint, earlier: Line, later: Line, joined: float, reach: float
) -> tuple[Moment, Moment]:
    """When the recording leaves ``earlier``, and from when on it follows ``later``.

    ``joined`` is the second from which it follows ``earlier``. Where nothing says when it changes, what is
    unsure is left out.
    """
    first, end = max(earlier.start, joined), max(later.end, joined)
    unsure: tuple[Moment, Moment] | None = None
    while True:
        earliest = max(first, earlier.end - reach)
        latest = max(earliest, min(end, later.start + reach))
        unsure = unsure or (Moment(earliest, latest - earliest), Moment(latest, latest - earliest))
        change = change_between(film, recording, earlier, later, earliest, latest)
        seconds = [moment.second for moment in change or ()]
        goes_further_back = earliest > first and (change is None or min(seconds) <= earliest + _EDGE)
        goes_further_on = latest < end and (change is None or max(seconds) >= latest - _EDGE)
        if not (goes_further_back or goes_further_on):
            return change or unsure
        reach *= 2


def _first_second(film: Fingerprint, recording: Fingerprint, line: Line, reach: float) -> Moment:
    """When the recording begins to follow its first line."""
    earliest = max(0.0, line.recording_second(0.0))
    # Both begin together: that is evidence too.
    if abs(line.film_second(0.0)) <= _ALL_OF_IT:
        return Moment(earliest, 0.0)
    while True:
        latest = min(line.end, line.start + reach)
        start = start_of(film, recording, line, earliest, latest)
        if start.second < latest - _EDGE or latest == line.end:
            return replace(start, second=earliest) if start.second - earliest < _NOTHING else start
        reach *= 2


def _last_second(film: Fingerprint, recording: Fingerprint, line: Line, reach: float) -> Moment:
    """When the recording stops to follow its last line."""
    latest = min(recording.duration, line.recording_second(film.duration))
    if abs(line.film_second(recording.duration) - film.duration) <= _ALL_OF_IT:
        return Moment(latest, 0.0)
    while True:
        earliest = max(line.start, line.end - reach)
        end = end_of(film, recording, line, earliest, latest)
        if end.second > earliest + _EDGE or earliest == line.start:
            return replace(end, second=latest) if latest - end.second < _NOTHING else end
        reach *= 2
