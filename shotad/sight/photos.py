"""Photos of people, as they come from phones, cameras and archives: which files are read, and how.

JPEG, PNG, WebP, TIFF, BMP, GIF and AVIF are read by Pillow; HEIC, the form of iPhones, by pillow-heif where
that is installed. It is no dependency: its builds bring an encoder under the GPL, and 27 MB.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image as Pictures, ImageOps, UnidentifiedImageError, features

from shotad.core import Image
from shotad.core.errors import CastError
from shotad.core.installation import install_command
from shotad.core.progress import plural

_ALWAYS_READ = (".bmp", ".gif", ".jfif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp")
_READ_WHERE_BUILT_IN = {"avif": (".avif",), "jpg_2000": (".jp2",)}
"""Endings of formats of which some builds of Pillow lack the library, by Pillow's name for the format."""
_HEIF = (".heic", ".heif", ".hif")
_NEVER_READ = (".arw", ".cr2", ".cr3", ".dng", ".jxl", ".nef", ".orf", ".psd", ".raf", ".raw", ".rw2", ".svg")

_HEIF_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")
"""Bytes 8 to 11 of a HEIC file, whatever its name."""

_LARGEST = 1600
"""Pixels of the longer side that are kept: more finds no further faces and costs memory."""
_BOMBS = (Pictures.DecompressionBombError, Pictures.DecompressionBombWarning)
_DEEP_MODES = ("I;16", "I;16L", "I;16B", "I;16N", "I", "F")
"""Pillow's names for grey in more than 8 bits, which it would cut off at 255 and not scale."""


@cache
def photo_endings() -> tuple[str, ...]:
    """Endings of the picture files that are read here, in lower case."""
    endings = list(_ALWAYS_READ)
    for name, format_endings in _READ_WHERE_BUILT_IN.items():
        if features.check(name):
            endings += format_endings
    if reads_heif():
        endings += _HEIF
    return tuple(sorted(endings))


@cache
def reads_heif() -> bool:
    """Whether HEIC can be read: pillow-heif is installed. Registers it with Pillow."""
    try:
        importlib.import_module("pillow_heif").register_heif_opener()
    except (ImportError, OSError):  # not installed, or built for another system
        return False
    return True


def is_photo(path: Path) -> bool:
    """Whether the file's name is that of a picture that can be read."""
    return path.suffix.lower() in photo_endings() and not path.name.startswith(".")


def is_unread_photo(path: Path) -> bool:
    """Whether the file's name is that of a picture of a format that cannot be read here."""
    endings = {*_HEIF, *_NEVER_READ}
    for format_endings in _READ_WHERE_BUILT_IN.values():
        endings.update(format_endings)
    unread = endings - {*photo_endings()}
    return path.suffix.lower() in unread and not path.name.startswith(".")


def how_to_read(paths: Iterable[Path]) -> str:
    """A sentence on what to do about ``paths``, pictures that cannot be read."""
    if any(path.suffix.lower() in _HEIF for path in paths):
        return f"Save pictures as JPEG or PNG, or have HEIC read: {install_command('shotad[heic]')}."
    return "Save pictures as JPEG or PNG."


def named_in(paths: Iterable[Path], folder: Path, most: int = 5) -> str:
    """The first ``most`` of ``paths``, files of ``folder``, for a message: ``a.heic and 3 others``."""
    names = [str(path.relative_to(folder)) for path in paths]
    more = f" and {plural(len(names) - most, 'other')}" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def check_photo(path: Path) -> None:
    """Raise CastError, as `load_photo`, where a photo cannot be read."""
    # The whole picture is decoded: the head of a file that was cut off is valid.
    load_photo(path)


def load_photo(path: Path) -> Image:
    """The picture in ``path``, upright, RGB ``uint8[H, W, 3]``, at most 1600 pixels long.

    Of an animation it is the first. Raises CastError where it is no picture, damaged, cut, or too large.
    """
    # Called for its effect: it registers HEIC.
    reads_heif()
    with _cast_errors(path), Pictures.open(path) as opened:
        # JPEGs are decoded at a fraction of their size, which is faster.
        opened.draft("RGB", (_LARGEST, _LARGEST))
        opened.load()
        try:
            picture = ImageOps.exif_transpose(opened)
        except Exception:  # noqa: BLE001  whatever is wrong with the EXIF data, the picture is there
            picture = opened
        if picture.mode in _DEEP_MODES:
            picture = _in_8_bits(picture)
        if "transparency" in picture.info or "A" in picture.getbands():
            # On grey: on black or white, hair of that colour would be lost.
            background = Pictures.new("RGBA", picture.size, (128, 128, 128, 255))
            picture = Pictures.alpha_composite(background, picture.convert("RGBA"))
        picture = picture.convert("RGB")
        picture.thumbnail((_LARGEST, _LARGEST))
        return np.asarray(picture, np.uint8)


def _in_8_bits(picture: Pictures.Image) -> Pictures.Image:
    """A grey picture of 16 or 32 bits, or in floats, as one of 8 bits: scaled by the range of its format."""
    values = np.nan_to_num(np.asarray(picture, np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    brightest = float(values.max(initial=0.0))
    if picture.mode == "F":
        # Floats are from 0 to 1 by custom; some programs write the values of 8 or 16 bits.
        white = 1.0 if brightest <= 1 else 255.0 if brightest <= 255 else max(65535.0, brightest)
    elif picture.mode == "I":
        # Pillow has this mode for some pictures of 8 and of 16 bits too.
        white = 255.0 if brightest <= 255 else max(65535.0, brightest)
    else:
        white = 65535.0
    grey = Pictures.fromarray(np.clip(values / white * 255, 0, 255).round().astype(np.uint8))
    # A transparent value of the old range would be a wrong one of the new.
    grey.info = {key: value for key, value in picture.info.items() if key != "transparency"}
    return grey


@contextmanager
def _cast_errors(path: Path) -> Iterator[None]:
    """Turn the errors of Pillow for the picture ``path`` into a CastError that names the file."""
    hint = "Give a JPEG, PNG or WebP file, or take it out of the cast."
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Pillow warns of the size from which on it would take too much memory here.
            warnings.simplefilter("error", Pictures.DecompressionBombWarning)
            yield
    except (MemoryError, CastError):
        raise
    except UnidentifiedImageError:
        why = "it is no picture, is damaged, or of a kind that is not read"
        if _is_heif(path):
            why, hint = "it is a HEIC picture", how_to_read([Path("a.heic")])
        raise CastError(f"The photo {path} cannot be read: {why}.", hint) from None
    except _BOMBS:
        hint = "Make it smaller: 1600 pixels are enough."
        raise CastError(f"The photo {path} cannot be read: it is too large{_size_of(path)}.", hint) from None
    except Exception as error:  # noqa: BLE001  parsers of damaged files raise all kinds
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise CastError(f"The photo {path} cannot be read: {why[:200]}.", hint) from None


def _is_heif(path: Path) -> bool:
    """Whether the file's first bytes are those of HEIC."""
    try:
        with path.open("rb") as file:
            head = file.read(12)
    except OSError:
        return False
    return head[4:8] == b"ftyp" and head[8:12] in _HEIF_BRANDS


def _size_of(path: Path) -> str:
    """`` (W x H pixels)`` of a picture that is too large to decode; empty where its head cannot be read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Pictures.open(path) as opened:
                return f" ({opened.width} x {opened.height} pixels)"
    except Exception:  # noqa: BLE001  it is refused in any case
        return ""
