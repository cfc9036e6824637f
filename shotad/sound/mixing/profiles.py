"""Delivery targets: how loud the described sound is to be as a whole, and how high its peaks may be."""

from __future__ import annotations

from dataclasses import dataclass

from shotad.core import LoudnessProfile


@dataclass(frozen=True, slots=True)
class Profile:
    """``target`` is LUFS (LKFS is another word for it), None: as loud as the film. ``true_peak`` is dBTP.

    ``dialogue``: what counts is the loudness while somebody speaks, film or describer, without the relative
    gate; where that is less than ``least_dialogue`` of the film, ``otherwise`` is the target of the whole.
    ``tolerance`` is how many LU a delivery may be off.
    """

    name: LoudnessProfile
    target: float | None
    true_peak: float
    tolerance: float
    source: str
    dialogue: bool = False
    least_dialogue: float = 0.0
    otherwise: float | None = None


PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(
            "source",
            None,
            -1.0,
            0.0,
            "our own: the film's loudness is kept, so that nothing jumps where a listener changes the track; "
            "peaks may be as high as the film's own",
        ),
        Profile("ebu-r128", -23.0, -1.0, 0.5, "EBU R 128 (2020): -23 LUFS ±0.5 LU, at most -1 dBTP"),
        Profile("atsc-a85", -24.0, -2.0, 2.0, "ATSC A/85 (2013): -24 LKFS ±2 dB, at most -2 dBTP"),
        Profile(
            "netflix",
            -27.0,
            -2.0,
            2.0,
            "Netflix Sound Mix Specifications & Best Practices: -27 LKFS ±2 LU dialogue-gated (BS.1770-1), "
            "at most -2 dBTP; with less than 15 % dialogue -24 LKFS ±2 LU of the whole (BS.1770-3)",
            dialogue=True,
            least_dialogue=0.15,
            otherwise=-24.0,
        ),
        Profile(
            "web",
            -16.0,
            -1.0,
            1.0,
            "AES TD1004 and TD1008: streams at -16 to -20 LUFS, at most -1 dBTP; -16 is also Apple's, "
            "and 2 LU under the -14 to which YouTube and Spotify turn down what is louder",
        ),
    )
}
"""Profiles by their name in the settings."""

PEAK_SLACK = 0.1
"""dB by which meters of true peak differ."""

ASSUMED = -23.0
"""LUFS of a described film whose own sound is silence, where no target is given: EBU R 128's."""

QUIET = -50.0
"""LUFS: a programme quieter than this is taken for silence (hiss, hum) and no measure for the voice."""
