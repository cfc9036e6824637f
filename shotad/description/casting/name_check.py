"""The names in a finished track against the cast: rules L7 and L8, for lines of people too."""

from __future__ import annotations

from shotad.description.casting.recognise import cast_of
from shotad.description.preparing import Bench
from shotad.script import Track, check_names, timecode


def names_amiss(track: Track, bench: Bench) -> tuple[str, ...]:
    """One sentence for each name that a line says too early or in another form; none without a cast.

    Names that are nobody's of the cast are not told here: few casts hold everybody.
    """
    cast = cast_of(bench)
    if cast is None:
        return ()
    film, heard = bench.film.info.name, track.heard
    lines = [(cue.interval.start, cue.text) for cue in heard]
    found = check_names(lines, lambda second: cast.characters(film, second))
    return tuple(
        f"{finding.rule} at {timecode(cue.interval.start)}: {finding.message}."
        for cue, findings in zip(heard, found, strict=True)
        for finding in findings
    )
