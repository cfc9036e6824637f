"""What is checked: the lines that are heard, of a track or of any script, and what is known of the film."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from shotad.core import Cast, Interval, TextFact, Utterance
from shotad.script.cue import Cue, ScriptCue, Voiced
from shotad.script.edits import is_by_hand
from shotad.script.track import Track


@dataclass(frozen=True, slots=True)
class TrackLine:
    """A line as its listeners get it. ``slot`` is the time planned for it, ``voiced`` how it was spoken.

    ``seen_from`` as in `shotad.script.cue.Cue`; ``by_hand``: a person wrote, changed or accepted it.
    """

    id: str
    interval: Interval
    text: str
    language: str = "en"
    slot: Interval | None = None
    voiced: Voiced | None = None
    seen_from: float | None = None
    by_hand: bool = True

    @property
    def heard(self) -> Interval:
        """When it is heard: as it was spoken, else as it is written down."""
        return self.voiced.interval if self.voiced and self.voiced.interval else self.interval

    @property
    def said(self) -> str:
        """What is heard of its text: a voice may have left out a part."""
        return self.voiced.text if self.voiced and self.voiced.text else self.text


@dataclass(frozen=True, slots=True)
class Material:
    """The lines, in the order in which they stand, and what is known besides; None is not known.

    ``end`` is that of the film in seconds; ``speech`` the utterances, some perhaps without words; ``texts``
    what was read on the screen. ``given``: slots or budgets are a benchmark's, whose minima and rates are not
    those of T2 and T3.
    """

    name: str
    lines: tuple[TrackLine, ...]
    end: float | None = None
    speech: tuple[Utterance, ...] | None = None
    cast: Cast | None = None
    texts: tuple[TextFact, ...] | None = None
    given: bool = False
    film: str = ""
    """The film's name, as casts have it, where that is not ``name``."""
    seen: Mapping[str, float] = field(default_factory=dict)
    """``seen_from`` of lines that do not say it themselves, by their ids."""

    @property
    def duration(self) -> float:
        """The film's length, as far as it is known: up to the last line or utterance at least."""
        ends = [line.interval.end for line in self.lines]
        ends += [spoken.interval.end for spoken in self.speech or ()]
        return max([0.0 if self.end is None else self.end, *ends])


def lines_of_track(track: Track, slots: dict[str, Interval] | None = None) -> tuple[TrackLine, ...]:
    """The lines of a track that are heard; ``slots`` are times by slot id."""
    known = slots or {}
    return tuple(_of_cue(cue, known.get(cue.slot_id or "")) for cue in track.heard)


def _of_cue(cue: Cue, slot: Interval | None) -> TrackLine:
    return TrackLine(
        cue.id, cue.interval, cue.text, cue.language, slot, cue.spoken, cue.seen_from, is_by_hand(cue)
    )


def lines_of_script(cues: Sequence[ScriptCue], language: str) -> tuple[TrackLine, ...]:
    """The lines of a script file, by their ids where these tell them apart, else by number: ``#3``."""
    counts = Counter(cue.id for cue in cues)
    return tuple(
        TrackLine(
            cue.id if cue.id and counts[cue.id] == 1 else f"#{number}", cue.interval, cue.text, language
        )
        for number, cue in enumerate(cues, 1)
        if cue.text.strip()
    )


def _name(given: str | None, number: int, counts: Counter[str | None]) -> str:
    return given if given and counts[given] == 1 else f"#{number}"
