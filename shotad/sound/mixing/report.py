"""What a mix is like in figures."""

from __future__ import annotations

from dataclasses import dataclass

from shotad.core import Interval
from shotad.sound.loudness import Loudness


@dataclass(frozen=True, slots=True)
class LineLevel:
    """How one line stands in the mix, before the make-up gain, which moves all alike.

    ``voice`` is its loudness in LUFS, ``programme`` that of the film meanwhile as it is, ``ducked`` as it is
    lowered; both None: silence. ``depth`` is how far it was to be lowered, dB. ``over`` is how many LU the
    line stands over the ducked programme; None: over silence.
    """

    id: str
    interval: Interval
    voice: float
    programme: float | None
    ducked: float | None
    depth: float

    @property
    def over(self) -> float | None:
        """LU."""
        return None if self.ducked is None else self.voice - self.ducked


@dataclass(frozen=True, slots=True)
class MixReport:
    """A mix in figures, before it is written. ``programme`` is the film's own sound, ``voice`` all lines by
    themselves (with the make-up gain).

    ``target`` is LUFS, None: as the film; ``of_dialogue``: it is meant of dialogue alone. ``make_up`` is the
    gain in dB on all, ``true_peak`` in dBTP what no file's peaks may pass.
    """

    profile: str
    target: float | None
    of_dialogue: bool
    programme: Loudness
    voice: Loudness
    make_up: float
    true_peak: float
    lines: tuple[LineLevel, ...]


@dataclass(frozen=True, slots=True)
class FileSound:
    """How the sound in a finished file is heard, decoded as players do. ``mix``: the film's sound is in it;
    else it is the description alone. ``reached`` is what is compared with the target, which for profiles that
    count dialogue is the loudness of dialogue; None: silence, or the description alone."""

    loudness: Loudness
    mix: bool
    reached: float | None
