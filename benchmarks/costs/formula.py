"""The cost model: what a film takes by its slots and the settings; pure arithmetic.

The letters are those of ``docs/planning.md``. Seconds of a graphics processor go by the roofline: arithmetic
for what is read, memory for what is written. None of them was measured by this project: peaks are the makers'
figures, shares are inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from shotad.description.estimate import DESCRIPTION_WORDS, LINE_WORDS, WRAPPING

TOKENS_A_WORD = 1.35
"""As `shotad.description.estimate` reckons."""


@dataclass(frozen=True)
class Asking:
    """How much is asked about a slot: by the settings, and by what prompts and answers are like.

    ``again1`` and ``again2``: calls for repair, as a share of all first calls of that stage.
    """

    frames: int = 32
    frame_tokens: float = 90.0
    words1: float = 340.0
    words2: float = 560.0
    candidates: int = 1
    lines: int = 1
    verify: bool = False
    renew_every: int | None = None
    choose: bool = False
    again1: float = 0.0
    again2: float = 0.0

    @property
    def answer1(self) -> float:
        """Tokens of a description."""
        return DESCRIPTION_WORDS * TOKENS_A_WORD

    @property
    def answer2(self) -> float:
        """Tokens of an answer of Stage II."""
        return self.lines * (LINE_WORDS * TOKENS_A_WORD + WRAPPING)


@dataclass(frozen=True)
class Asked:
    """What so many slots take of both stages together with their second looks."""

    calls1: float
    calls2: float
    tokens_in1: float
    tokens_in2: float
    tokens_out1: float
    tokens_out2: float
    frames: float


def asked(slots: float, how: Asking) -> Asked:
    """Calls and tokens for ``slots`` slots."""
    looks = slots * (1 + how.again1) + (slots if how.verify else 0.0)
    rounds = how.candidates / how.lines
    lines = slots * rounds * (1 + how.again2)
    beside = (slots / how.renew_every if how.renew_every else 0.0) + (slots if how.choose else 0.0)
    frames = looks * how.frames
    return Asked(
        calls1=looks,
        calls2=lines + beside,
        tokens_in1=looks * how.words1 + frames * how.frame_tokens,
        tokens_in2=(lines + beside) * (how.words2 + how.answer1),
        tokens_out1=looks * how.answer1,
        tokens_out2=(lines + beside) * how.answer2,
        frames=frames,
    )


@dataclass(frozen=True)
class Units:
    """What one unit of work takes, as measured: seconds of one core, and bytes."""

    second: float
    """Core seconds for a second of film, whatever its size: listening, and what a frame takes by itself."""
    pixels: float
    """Core seconds for 10^9 pixels decoded and scored."""
    credits: float
    """Core seconds for a moment that is looked at for rolling credits."""
    slot: float
    """Core seconds to read, paint and hand over a slot's frames and to write its records and its line."""
    grammar: float
    """Core seconds for a slot's film grammar."""
    sheet: float
    """Core seconds for a slot's and its shots' part of the overview."""
    embedded: float
    """Core seconds of the embedded engine for a slot."""
    records: float
    """Bytes kept for a slot: records, track, scripts."""
    drawn: float
    """Bytes of the overview for a slot."""
    shot: float
    """Bytes of ``shots.json`` for a shot."""
    kept: float
    """Bytes on disk at the most while a film is described, for a second of film (frames kept)."""
    sent: float
    """Bytes of a frame that is sent to a server, packed for JSON."""
    letter: float
    """Bytes of a request to a server beside its frames."""


@dataclass(frozen=True)
class Hour:
    """A film hour: ``slots`` to describe, a picture of so many pixels and frames a second."""

    slots: float
    shots: float
    width: int = 1920
    height: int = 1080
    rate: float = 24.0
    seconds: float = 3600.0
    moments: float = 150.0
    """Looked at for credits: 300 of a film of two hours."""

    @property
    def gigapixels(self) -> float:
        return self.width * self.height * self.rate * self.seconds / 1e9


def preparing(hour: Hour, units: Units) -> float:
    """Core seconds before anything is looked at: decoding, shots, speech, credits."""
    return units.second * hour.seconds + units.pixels * hour.gigapixels + units.credits * hour.moments


def around(hour: Hour, units: Units, *, sheet: bool = True) -> float:
    """Core seconds for the slots without the engines: frames, grammar, records, overview."""
    return hour.slots * (units.slot + units.grammar + (units.sheet if sheet else 0.0))


def bytes_kept(hour: Hour, units: Units, *, sheet: bool = True) -> float:
    """Bytes of the work folder when all is done."""
    each = units.records + (units.drawn if sheet else 0.0)
    return hour.slots * each + hour.shots * units.shot


def bytes_sent(found: Asked, units: Units) -> float:
    """Bytes that go to a server for both stages."""
    return found.frames * units.sent + (found.calls1 + found.calls2) * units.letter


@dataclass(frozen=True)
class Gpu:
    """Peak arithmetic in bfloat16 without sparsity (operations a second) and memory (bytes a second)."""

    name: str
    flops: float
    bandwidth: float


GPUS: Mapping[str, Gpu] = {
    gpu.name: gpu
    for gpu in (
        Gpu("H100 SXM", 989e12, 3350e9),
        Gpu("A100 80 GB SXM", 312e12, 2039e9),
        Gpu("L40S", 362e12, 864e9),
        Gpu("RTX 4090", 165e12, 1008e9),
    )
}
"""NVIDIA's data sheets."""


@dataclass(frozen=True)
class Model:
    """Parameters of the language part and of what sees, bytes of the weights, bytes of cache a token."""

    name: str
    parameters: float
    seeing: float
    weights: float
    cache: float
    patches: float = 4.0
    """Patches that the seeing part goes over for each token of a frame."""


QWEN = Model("Qwen2-VL-7B", 7.6e9, 0.675e9, 16.6e9, 2 * 28 * 4 * 128 * 2)
"""28 layers, 4 key heads of 128, bfloat16; 675 million parameters see (the model's report and config)."""
LLAMA = Model("LLaMA3-8B", 8.0e9, 0.0, 16.1e9, 2 * 32 * 8 * 128 * 2)
"""32 layers, 8 key heads of 128, bfloat16 (the model's config)."""


@dataclass(frozen=True)
class Shares:
    """How much of the peaks is reached, and how many requests are answered at once."""

    arithmetic: float = 0.4
    memory: float = 0.63
    """Qwen2.5-7B by vLLM on an A100 80 GB, one request at a time: 84.28 tokens a second (Qwen's own speed
    benchmark, docs/source/benchmark/speed_benchmark.rst of QwenLM/Qwen2.5) x 15.2 GB = 0.63 of the peak."""
    at_once: int = 16


def seconds(
    gpu: Gpu,
    model: Model,
    tokens_in: float,
    tokens_out: float,
    seen: float,
    share: Shares,
    calls: float = 1.0,
) -> float:
    """GPU seconds for ``calls`` calls with these tokens altogether; ``seen`` of those read are of frames."""
    reading = 2 * model.parameters * tokens_in + 2 * model.seeing * seen * model.patches
    held = (tokens_in + tokens_out / 2) / calls * model.cache
    writing = tokens_out * (model.weights / share.at_once + held)
    return reading / (gpu.flops * share.arithmetic) + writing / (gpu.bandwidth * share.memory)


def of_both(gpu: Gpu, found: Asked, frame_tokens: float, share: Shares) -> tuple[float, float]:
    """GPU seconds of Stage I by Qwen2-VL-7B and of Stage II by LLaMA3-8B."""
    seen = found.frames * frame_tokens
    return (
        seconds(gpu, QWEN, found.tokens_in1, found.tokens_out1, seen, share, found.calls1),
        seconds(gpu, LLAMA, found.tokens_in2, found.tokens_out2, 0.0, share, found.calls2),
    )
