"""What a mix is like in figures."""

from __future__ import annotations

from dataclasses import dataclass

from shotad.sound.loudness import Loudness
from shotad.types import Interval


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
    """A mix in figures. ``programme`` is the film's own sound, ``voice`` all lines by themselves (with the
    make-up gain), ``mix`` what comes out.

    ``target`` is LUFS, None: as the film; ``reached`` is what is compared with it, which for profiles that
    count dialogue is the loudness of dialogue, else that of the mix. ``make_up`` is the gain in dB on all,
    ``true_peak`` the limit in dBTP, ``limited`` the most by which the limiter lowers, dB.
    """

    profile: str
    target: float | None
    reached: float | None
    programme: Loudness
    voice: Loudness
    mix: Loudness
    make_up: float
    true_peak: float
    limited: float
    lines: tuple[LineLevel, ...]
