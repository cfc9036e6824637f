"""Programme and audio description, mixed."""

from shotad.sound.mixing.audible import audibility
from shotad.sound.mixing.mix import Mix
from shotad.sound.mixing.prepare import prepare_mix
from shotad.sound.mixing.profiles import PROFILES, Profile
from shotad.sound.mixing.report import LineLevel, MixReport

__all__ = ["PROFILES", "LineLevel", "Mix", "MixReport", "Profile", "audibility", "prepare_mix"]
