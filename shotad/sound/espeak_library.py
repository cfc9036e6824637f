"""The sounds of a text, read by espeak-ng's library in a process of its own, which imports nothing of this
program.

    python espeak_library.py LIBRARY FOLDER_OF_ITS_DATA LANGUAGE < text

Prints the International Phonetic Alphabet with ``^`` between the letters of one sound, as
``espeak-ng -q --ipa --tie=^`` does. Calls and constants are those of espeak-ng's ``speak_lib.h``.
"""

from __future__ import annotations

import ctypes
import sys

_AUDIO_OUTPUT_RETRIEVAL = 1
_INITIALIZE_DONT_EXIT = 0x8000
_CHARS_UTF8 = 1
_PHONEMES_IPA_WITH_TIE = 0x82 | ord("^") << 8


class _Voice(ctypes.Structure):
    """``espeak_VOICE``."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("languages", ctypes.c_char_p),
        ("identifier", ctypes.c_char_p),
        ("gender", ctypes.c_ubyte),
        ("age", ctypes.c_ubyte),
        ("variant", ctypes.c_ubyte),
        ("reserved", ctypes.c_ubyte),
        ("score", ctypes.c_int),
        ("spare", ctypes.c_void_p),
    )


def main() -> None:
    """Write the sounds of standard input. Ends with a message where the library cannot read the language."""
    library_path, data, language = sys.argv[1:]
    text = sys.stdin.buffer.read().replace(b"\0", b" ")
    library = ctypes.CDLL(library_path)
    library.espeak_TextToPhonemes.restype = ctypes.c_char_p
    rate = library.espeak_Initialize(_AUDIO_OUTPUT_RETRIEVAL, 0, data.encode(), _INITIALIZE_DONT_EXIT)
    if rate < 0:
        sys.exit(f"espeak-ng finds no data in {data}")
    # By its name, else by its language, as the program looks for a voice.
    voice_properties = _Voice(languages=language.encode())
    by_name = library.espeak_SetVoiceByName(language.encode())
    if by_name != 0 and library.espeak_SetVoiceByProperties(ctypes.byref(voice_properties)) != 0:
        sys.exit(f"espeak-ng does not know the language {language}")
    clauses: list[bytes] = []
    # The library reads one clause at a time, and moves the pointer to the next; after the last it is NULL.
    pointer = ctypes.c_void_p(ctypes.cast(ctypes.c_char_p(text), ctypes.c_void_p).value)
    while pointer.value:
        sounds = library.espeak_TextToPhonemes(ctypes.byref(pointer), _CHARS_UTF8, _PHONEMES_IPA_WITH_TIE)
        clauses.append(sounds or b"")
    sys.stdout.buffer.write(b"\n".join(clauses) + b"\n")


if __name__ == "__main__":
    main()
