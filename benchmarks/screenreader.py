"""What a blind describer hears on the review page: a round by keys with Orca, whose speech is written down.

    python benchmarks/screenreader.py [--browser firefox|chromium] [--picture FILE]

On Debian: ``apt-get install orca xvfb xdotool openbox dbus-x11 at-spi2-core speech-dispatcher pulseaudio
firefox-esr chromium``. Everything runs on a virtual screen with a session bus and a home folder of its
own, and nothing is heard: a module of Speech Dispatcher takes what Orca says. Keys are pressed as on a
keyboard, so a key that the browser or the screen reader keeps for itself does nothing here either.

The film is the small one of the tests: one line of the machine and five empty slots. For each step the keys
and all that Orca said are printed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.firefox import PREFERENCES  # noqa: E402
from tests.rendering.described import write_folder_to_fill  # noqa: E402
from tests.review.pages import Program  # noqa: E402

INSIDE = "SHOTAD_SCREENREADER_BUS"
"""Environment variable that says that this process has a session bus of its own."""

NEEDED = ("orca", "pulseaudio", "Xvfb", "xdotool", "openbox", "speech-dispatcher", "dbus-run-session")
SCREEN = "1440x960x24"
QUIET = 2.5
"""Seconds without speech after which a step is over."""
LONGEST = 15.0
"""Seconds after which a step is over although something is still said."""
LOADING = 90.0

LETTERS_A_SECOND = 40.0
"""How fast the module pretends to speak: about 450 words a minute, as people who listen all day have it."""

# Written to a file and run by Speech Dispatcher: its own protocol, one command a line, data until a full
# stop. Each phrase takes as long as to say it, so that what comes later cuts it off as for a person.
_MODULE = """#!/usr/bin/python3
import json, re, select, sys, time, html

log, pace = open(sys.argv[1], "a", encoding="utf-8"), float(sys.argv[2])
phrase, until = "", 0.0

def read():
    lines = []
    while (line := sys.stdin.readline()).strip() != "." and line:
        lines.append(line)
    return "".join(lines)

def answer(*lines):
    print(*lines, sep="\\n", flush=True)

def note(how):
    print(json.dumps([how, phrase]), file=log, flush=True)

def finish(how, event):
    global until
    if until:
        until = 0.0
        note(how)
        answer(event)

while True:
    wait = max(0.0, until - time.monotonic()) if until else None
    if until and not select.select([0], [], [], wait)[0]:
        for mark in marks:
            answer("700-" + mark, "700 INDEX MARK")
        finish("said", "702 END")
        continue
    line = sys.stdin.readline()
    command = line.strip()
    if command in ("SPEAK", "CHAR", "KEY", "SOUND_ICON"):
        answer("202 OK RECEIVING MESSAGE")
        text = read()
        marks = re.findall(r'<mark name="([^"]*)"', text)
        phrase = html.unescape(re.sub(r"<[^>]*>", "", text)).strip()
        answer("200 OK SPEAKING", "701 BEGIN")
        until = time.monotonic() + len(phrase) / pace
        note("begins")
    elif command in ("STOP", "PAUSE"):
        finish("cut", "703 STOP")
    elif command == "INIT":
        answer("299-silent", "299 OK LOADED SUCCESSFULLY")
    elif command in ("AUDIO", "LOGLEVEL", "SET"):
        answer("203 OK RECEIVING SETTINGS" if command == "SET" else "207 OK RECEIVING SETTINGS")
        read()
        answer("203 OK SETTINGS RECEIVED")
    elif command.startswith("LIST VOICES"):
        answer("200-silent\\ten\\tnone", "200 OK VOICE LIST SENT")
    elif command.startswith("DEBUG"):
        answer("200 OK DEBUGGING")
    elif command == "QUIT" or not line:
        answer("210 OK QUIT")
        break
"""


@dataclass(frozen=True)
class Step:
    """Keys as ``xdotool`` names them, or a text to type, and what they are for."""

    title: str
    keys: tuple[str, ...] = ()
    text: str = ""
    seconds: float = 0.0
    """Waited at least, for what takes its time."""


ROUND = (
    Step("Stop the reading of the whole page", ("Control_L",)),
    Step("To the first link", ("ctrl+Home",)),
    Step("Follow it: to the script", ("Return",)),
    Step("Next line: an empty slot", ("Down",)),
    Step("Open it to write", ("Return",)),
    Step("Write", text="A man steps in and shuts the door."),
    Step("Hear the line", ("alt+h",), seconds=8.0),
    Step("Done, next", ("ctrl+Return",)),
    Step("Write a line that is too long", text="A man steps in and shuts the door behind him with care."),
    Step("Undo", ("ctrl+z",)),
    Step("Write again", text="He sits down."),
    Step("On to the next line", ("Return",)),
    Step("Next empty slot", ("alt+n",)),
    Step("Play with description", ("alt+k",), seconds=4.0),
    Step("Pause", ("F8",)),
    Step("Back to the script", ("Escape",)),
    Step("Previous line", ("Up",)),
    Step("Previous line", ("Up",)),
    Step("The dialogue before and after", ("y",)),
    Step("Where am I", ("w",)),
    Step("Accept from the list", ("a",)),
    Step("Undo", ("ctrl+z",)),
    Step("Next region", ("F6",)),
    Step("Region before", ("shift+F6",)),
    Step("Next control", ("Tab",)),
    Step("Next control", ("Tab",)),
    Step("Next control", ("Tab",)),
    Step("Back to the script", ("Escape",)),
    Step("Help", ("question",)),
    Step("Close it", ("Escape",)),
    Step("Menu", ("F10",)),
    Step("Close it", ("Escape",)),
    Step("Export", ("x",)),
    Step("Close it", ("Escape",)),
)


class Speech:
    """What was said since it was last read."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._read = 0
        self.is_silent = True
        """Whether nothing is being said now."""

    def take(self) -> list[str]:
        """The phrases that came to their end, or were cut off."""
        lines = self._log.read_text(encoding="utf-8").splitlines() if self._log.exists() else []
        fresh, self._read = lines[self._read :], len(lines)
        phrases: list[str] = []
        for line in fresh:
            how, phrase = json.loads(line)
            self.is_silent = how != "begins"
            if phrase and how != "begins":
                phrases.append(f"{phrase} [cut off]" if how == "cut" else phrase)
        return phrases

    def until_quiet(self, seconds: float = 0.0) -> list[str]:
        """All that is said from now on, until nothing was for a while."""
        begin = last = time.monotonic()
        phrases: list[str] = []
        while True:
            time.sleep(0.1)
            now = time.monotonic()
            phrases += self.take()
            last = last if self.is_silent else now
            if now - begin > LONGEST + seconds or (now - last > QUIET and now - begin > seconds):
                return phrases


@contextmanager
def started(
    command: Sequence[str], log: Path, environment: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """A program that runs until the block ends, with what it prints in a file."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=subprocess.STDOUT, env=dict(environment), start_new_session=True
        )
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)


def free_display() -> str:
    """A screen that no other X server has."""
    return next(f":{number}" for number in range(90, 200) if not Path(f"/tmp/.X11-unix/X{number}").exists())


def browser_command(name: str, home: Path, url: str) -> list[str]:
    profile = home / "profile"
    profile.mkdir()
    if name == "chromium":
        options = (
            "--no-sandbox", "--disable-dev-shm-usage", "--force-renderer-accessibility", "--no-first-run",
            "--autoplay-policy=no-user-gesture-required", "--disable-gpu", "--start-maximized",
        )  # fmt: skip
        return ["chromium", *options, f"--user-data-dir={profile}", url]
    preferences: dict[str, bool | int | str] = {
        **PREFERENCES,
        "accessibility.force_disabled": -1,
        "browser.startup.homepage_override.mstone": "ignore",
        "startup.homepage_welcome_url": "",
        "datareporting.policy.dataSubmissionPolicyBypassNotification": True,
        "termsofuse.bypassNotification": True,
        "browser.translations.enable": False,
    }
    lines = [f"user_pref({_js(key)}, {_js(setting)});\n" for key, setting in preferences.items()]
    (profile / "user.js").write_text("".join(lines), encoding="utf-8")
    return ["firefox-esr", "--no-remote", "--new-instance", "--profile", str(profile), url]


def _js(value: bool | int | str) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def run_round(browser: str, picture: Path | None, kept_log: Path | None) -> None:
    """Prints each step of the round and what is said."""
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        runtime, speech_settings = home / "run", home / "speechd"
        for folder in (runtime, speech_settings):
            folder.mkdir(mode=0o700)
        module = speech_settings / "silent"
        spoken = home / "spoken.jsonl"
        module.write_text(_MODULE, encoding="utf-8")
        module.chmod(0o755)
        runner = speech_settings / "run"
        runner.write_text(f"#!/bin/sh\nexec {module} {spoken} {LETTERS_A_SECOND}\n", encoding="utf-8")
        runner.chmod(0o755)
        settings = f'LogLevel 1\nAddModule "silent" "{runner}"\nDefaultModule silent\nDefaultLanguage en\n'
        (speech_settings / "speechd.conf").write_text(settings, encoding="utf-8")
        environment = {
            **os.environ, "HOME": str(home), "XDG_RUNTIME_DIR": str(runtime), "DISPLAY": free_display(),
            "XDG_DATA_HOME": str(home / "data"), "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_CACHE_HOME": str(home / "cache"), "GSETTINGS_BACKEND": "memory", "GNOME_ACCESSIBILITY": "1",
            "NO_AT_BRIDGE": "0", "MOZ_ENABLE_WAYLAND": "0", "LC_ALL": "C.UTF-8",
        }  # fmt: skip
        environment.pop("PYTHONPATH", None)  # Orca is a program of the system's own Python
        environment.pop("VIRTUAL_ENV", None)
        environment["PATH"] = "/usr/local/bin:/usr/bin:/bin"

        def start(name: str, *command: str) -> None:
            stack.enter_context(started(command, home / f"{name}.log", environment))

        start("screen", "Xvfb", environment["DISPLAY"], "-screen", "0", SCREEN, "-nolisten", "tcp")
        time.sleep(2)
        start("windows", "openbox")
        start("bus", "/usr/libexec/at-spi-bus-launcher", "--launch-immediately")
        # Firefox plays nothing where there is no sound device.
        start(
            "sound",
            "pulseaudio",
            "-n",
            "--exit-idle-time=-1",
            "--load=module-null-sink",
            "--load=module-native-protocol-unix",
        )
        start("speech", "speech-dispatcher", "-s", "-t", "0", "-C", str(speech_settings), "-L", str(home))
        time.sleep(2)
        log = home / "orca.txt"
        if kept_log:
            stack.callback(lambda: shutil.copy(log, kept_log))
        start("orca", "orca", f"--debug-file={log}", "--replace")
        speech = Speech(spoken)
        wait_for(speech, "Screen reader on", home)

        folder = write_folder_to_fill(home / "film.shotad")
        server = Program(folder, None, "--reviewer", "Ann")
        stack.callback(server.close)
        start("browser", *browser_command(browser, home, server.url))
        print(f"## Load the page ({browser})")
        report(wait_for(speech, "Finished loading", home) + speech.until_quiet(4.0))
        for step in ROUND:
            press = list(step.keys) or [f"“{step.text}”"]
            print(f"\n## {step.title}: {' '.join(press)}")
            if step.text:
                subprocess.run(["xdotool", "type", "--delay", "60", step.text], env=environment, check=True)
            for key in step.keys:
                subprocess.run(["xdotool", "key", key], env=environment, check=True)
            report(speech.until_quiet(step.seconds))
        if picture:
            subprocess.run(["import", "-window", "root", str(picture)], env=environment, check=True)


def wait_for(speech: Speech, words: str, home: Path) -> list[str]:
    """What is said until something with these words is."""
    end = time.monotonic() + LOADING
    phrases: list[str] = []
    while not any(words in phrase for phrase in phrases):
        if time.monotonic() > end:
            logs = "\n".join(
                f"{file.name}: {file.read_text(errors='replace')[-600:]}" for file in home.glob("*.log")
            )
            sys.exit(f"Orca never said “{words}”, only {phrases}.\n{logs}")
        time.sleep(0.2)
        phrases += speech.take()
    return phrases


def report(phrases: Sequence[str]) -> None:
    """Prints what was said; the letters that are echoed while one types in one line."""
    letters: list[str] = []
    for phrase in [*phrases, ""]:
        letter = phrase.removesuffix(" [cut off]")
        if len(letter) == 1 or letter in ("space", "left shift", "left control", "left alt"):
            letters.append(" " if letter == "space" else letter if len(letter) == 1 else "")
            continue
        if "".join(letters).strip():
            print(f"   (echo of keys: {''.join(letters)})")
        letters.clear()
        if phrase:
            print(f"   {phrase}")
    if not phrases:
        print("   (silence)")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--browser", choices=("firefox", "chromium"), default="firefox")
    parser.add_argument("--picture", type=Path, help="a picture of the screen at the end (needs ImageMagick)")
    parser.add_argument("--log", type=Path, help="keep all that Orca wrote into its log")
    options = parser.parse_args()
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing:
        sys.exit(f"Not installed: {', '.join(missing)}. Install them as the top of this file says.")
    if INSIDE not in os.environ:
        command = ["dbus-run-session", "--", sys.executable, *sys.argv]
        sys.exit(subprocess.run(command, env={**os.environ, INSIDE: "yes"}, check=False).returncode)
    run_round(options.browser, options.picture, options.log)


if __name__ == "__main__":
    main()
