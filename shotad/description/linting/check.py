"""`lint`: all rules on all lines of a track; `lint_paths`: on the work folders, films and scripts that a user
names."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from shotad.core import (
    Config,
    Interval,
    NoProgress,
    Progress,
    ShotadError,
)
from shotad.core.config.film import SlotSettings
from shotad.core.config.languages import is_english
from shotad.core.config.sound import FitSettings, LintSettings
from shotad.core.errors import (
    ScriptError,
    UsageError,
    WorkFolderError,
)
from shotad.core.files import refuse_special
from shotad.core.records import parse_json
from shotad.core.text_files import read_text_file
from shotad.core.types import SpeechKind
from shotad.core.workfolder import work_folder_of
from shotad.description.linting.material import (
    frame_rate_of_film,
    read_screen,
    recorded_findings,
    run_of,
    script_material,
    track_material,
    with_film_material,
    with_folder_material,
)
from shotad.description.linting.script_language import language_of_script
from shotad.film.slots import subtract
from shotad.script import (
    RULES,
    Finding,
    Level,
    LintReport,
    Material,
    SentenceReader,
    Track,
    TrackLine,
    load_track,
    read_cues,
)
from shotad.script.guidelines import (
    accept_filter,
    accept_findings,
    finding_stamp,
    line_stamps,
    read_accepted,
    selects_rule,
    sort_findings,
)
from shotad.script.line_checks import (
    IntervalIndex,
    check_dialogue,
    check_pace,
    check_pronouns,
    check_subtitles,
    check_texts,
    make_sentence_reader,
    quoted_text_start,
)
from shotad.script.names import check_names, people_named
from shotad.script.reasons import SEPARATOR, in_english, reason_in
from shotad.script.rules import (
    BENCHMARK_LIMITS,
    Limits,
    UserWords,
    WordList,
    check_lead,
    check_line,
    check_order,
    check_silence,
    lists_for,
    packaged_lists,
    read_words,
)
from shotad.script.track_files import TRACK

OVERLAP = 0.3
"""T1: seconds of speech that a line may touch (describers' own cues run that far over)."""
DIALOGUE_WINDOW = 25.0
"""L10: seconds around a line in which dialogue is compared with it; nobody remembers older words."""


@dataclass(frozen=True, slots=True)
class Checker:
    """Settings made ready: limits, word lists, the reader of sentences (None: rules look at words alone), and
    notes on what is missing."""

    settings: LintSettings
    fit: FitSettings
    limits: Limits
    words: tuple[UserWords, ...]
    reader: SentenceReader | None
    notes: tuple[str, ...] = ()

    @staticmethod
    def of(
        settings: LintSettings, fit: FitSettings | None = None, slots: SlotSettings | None = None
    ) -> Checker:
        """A checker by these settings. Raises ConfigError for bad words, ShotadError without the parser.

        A line in a gap that is too short for a slot by ``slots.minimum`` gets a warning.
        """
        all_words = check_lint_settings(settings)
        reader, note = make_sentence_reader(settings)
        shortest_gap = max(slots.minimum, Limits().gap_error) if slots else Limits().gap_warning
        limits = Limits(
            gap_warning=shortest_gap,
            rate_error=settings.rate_error or math.inf,
            rate_warning=Limits().rate_warning if settings.rate_error else math.inf,
            overlap=OVERLAP,
            titles=settings.levels.get("L13", "off") != "off",
        )
        return Checker(settings, fit or FitSettings(), limits, all_words, reader, (note,) if note else ())


def check_lint_settings(settings: LintSettings) -> tuple[UserWords, ...]:
    """The word files that these settings name. Raises ConfigError for files and rules that are none."""
    for pattern in settings.ignore:
        accept_filter(pattern)
    return read_words(settings.words)


def lint_track(track: Track, folder: Path | None, config: Config) -> LintReport:
    """All that is wrong with a track, as far as its work folder knows the film."""
    material, skipped = track_material(track, folder)
    earlier_findings = recorded_findings(folder, track) if folder else ()
    checker = Checker.of(config.lint, config.fit, config.slots)
    return lint(material, checker, extra=earlier_findings, folder=folder, skipped=skipped)


def lint(
    material: Material,
    checker: Checker,
    *,
    extra: Sequence[Finding] = (),
    folder: Path | None = None,
    skipped: Sequence[str] = (),
    line_findings: Iterable[Finding] | None = None,
) -> LintReport:
    """All that is wrong with these lines, accepted or not.

    ``extra`` are findings of earlier commands, such as a render. ``line_findings`` are those that
    `CachedLineFindings` has for each line by itself (None: the lines are checked here). What a person
    accepted is read from ``folder``; ``skipped`` says what could not be checked so far.
    """
    if line_findings is None:
        line_findings = check_each_line(material, checker)
    findings = [*line_findings, *check_all_lines(material, checker), *dict.fromkeys(extra)]
    ignored = [accept_filter(pattern) for pattern in checker.settings.ignore]
    stamps = line_stamps(material.lines)
    accepted_stamps = read_accepted(folder) if folder is not None else frozenset()
    open_findings: list[Finding] = []
    accepted: list[Finding] = []
    for finding in sort_findings(_at_set_levels(findings, checker.settings), material.lines):
        if any(matches(finding) for matches in ignored):
            continue
        # Stamps hold the text of the line: what was accepted of an older text counts no more.
        is_accepted = finding_stamp(finding, stamps) in accepted_stamps
        (accepted if is_accepted else open_findings).append(finding)
    return LintReport(
        material.name,
        material.lines,
        tuple(open_findings),
        tuple(dict.fromkeys((*skipped, *_not_checked(material)))),
        tuple(accepted),
        checker.notes,
    )


def _at_set_levels(findings: Iterable[Finding], settings: LintSettings) -> list[Finding]:
    """The findings, each at the level that the settings give its rule; none of a rule that is off."""
    levelled = []
    for finding in findings:
        level = settings.levels.get(finding.rule)
        if level is None:
            levelled.append(finding)
        elif level != "off":
            levelled.append(replace(finding, level=Level(level)))
    return levelled


def check_each_line(
    material: Material, checker: Checker, *, only: Container[str] | None = None
) -> Iterator[Finding]:
    """What the rules on a single line and the words just before it find; ``only`` has ids of the lines to
    check (None: all)."""
    if material.is_benchmark:
        # Slots and budgets of a benchmark: no T2 and no T3.
        names = ("gap_error", "gap_warning", "rate_error", "rate_warning")
        benchmark_limits = {name: getattr(BENCHMARK_LIMITS, name) for name in names}
        checker = replace(checker, limits=replace(checker.limits, **benchmark_limits))
    limits = checker.limits
    lists = {line.language: lists_for(line.language, checker.words) for line in material.lines}
    english_verbs: set[str] = set()
    for language, word_lists in lists.items():
        if is_english(language):
            english_verbs |= _event_verbs(word_lists)
    checked_lines = [line for line in material.lines if only is None or line.id in only]
    parsed = checker.reader(checked_lines, frozenset(english_verbs)) if checker.reader else {}

    speech = material.speech or ()
    utterances = IntervalIndex(speech, lambda utterance: utterance.interval)
    # A line may be spoken over a song, but not over dialogue.
    dialogue_times = [u.interval for u in utterances.items if u.kind is not SpeechKind.LYRICS]
    dialogue = IntervalIndex(dialogue_times, lambda interval: interval)
    gaps: Sequence[Interval] = ()
    if utterances.items and material.duration > 0:
        film = Interval(0.0, material.duration)
        gaps = subtract(film, (u.interval for u in utterances.items))
    gap_index = IntervalIndex(gaps, lambda gap: gap)

    for number, line in enumerate(material.lines):
        if only is not None and line.id not in only:
            continue
        before = [earlier.text for earlier in material.lines[max(number - limits.history, 0) : number]]
        wording = check_line(line.text, previous=before, limits=limits, lists=lists[line.language])
        sentences = parsed.get(line.id)
        if sentences is not None:
            wording = sentences.merge_findings(wording, _event_verbs(lists[line.language]))
        yield from _with_cue(line, wording)
        yield from _with_cue(
            line,
            _check_times(
                line, dialogue.near(line.spoken_interval), gap_index.near(line.spoken_interval), checker
            ),
        )
        # T7: the run knows when most of its lines are seen; of a person's line only quoted text is known.
        seen_from = line.seen_from
        if seen_from is None and line.by_hand:
            seen_from = quoted_text_start(line, material.texts or ())
        if seen_from is not None:
            yield from _with_cue(
                line, tuple(check_lead(line.spoken_interval, seen_from, by_hand=line.by_hand))
            )
        if material.speech is not None:
            speech_around = utterances.near(line.spoken_interval, DIALOGUE_WINDOW)
            yield from _with_cue(line, tuple(check_dialogue(line, speech_around, DIALOGUE_WINDOW)))
        if material.texts is not None:
            yield from _with_cue(line, tuple(check_subtitles(line, material.texts, DIALOGUE_WINDOW)))


def _event_verbs(lists: Sequence[WordList]) -> frozenset[str]:
    """The verbs of the set ``event``: of what is done to somebody and is no state."""
    verbs: set[str] = set()
    for word_list in lists:
        verbs.update(word for word in word_list.sets.get("event", ()) if " " not in word)
    return frozenset(verbs)


def _check_times(
    line: TrackLine, dialogue: Sequence[Interval], gaps: Sequence[Interval], checker: Checker
) -> tuple[Finding, ...]:
    """What T1 to T4 and the times of T6 find, on the line as it is heard.

    ``dialogue`` and ``gaps`` are the times with and without speech around it.
    """
    line_time, voiced = line.spoken_interval, line.take
    gap = max(
        (gap for gap in gaps if gap.overlaps(line_time)),
        key=lambda gap: min(gap.end, line_time.end) - max(gap.start, line_time.start),
        default=None,
    )
    available = gap
    if (slot := line.slot) is not None:
        # A voice may take the slot and, within the gap, as much beside it as lines may move.
        movable = Interval(slot.start - checker.fit.earlier, slot.end + checker.fit.later)
        part = movable.clip(gap) if gap is not None else None
        available = slot if part is None or part.duration < slot.duration else part
    # In extended AD the film stops for ``pause`` seconds, which the slot need not have.
    measured = voiced.interval.duration - voiced.pause if voiced and voiced.interval else None
    findings = check_line(
        line.spoken_text,
        interval=line_time,
        slot=available,
        speech=dialogue,
        gap=gap,
        measured=measured,
        limits=checker.limits,
        lists=(),
    )
    # T3, the budget, is judged by `check_pace`, which knows the language and the voice.
    on_times = [finding for finding in findings if finding.rule.startswith("T") and finding.rule != "T3"]
    on_times += check_pace(line, checker.limits)
    if voiced is not None and voiced.interval is None:
        reason = reason_in(SEPARATOR.join(voiced.steps), "en") or in_english("reason.no_space")
        on_times.append(Finding("T4", Level.ERROR, f"is not heard: {reason}"))
    return tuple(on_times)


def check_all_lines(material: Material, checker: Checker) -> Iterator[Finding]:
    """What the rules on all lines together find: order and silences, pronouns, names, text on the screen."""
    for before, line in zip(material.lines, material.lines[1:], strict=False):
        yield from check_order(before.spoken_interval, line.spoken_interval, line.id)
    if material.speech is not None and material.duration > 0:
        gaps = subtract(Interval(0.0, material.duration), (u.interval for u in material.speech))
        line_times = sorted(line.spoken_interval for line in material.lines)
        yield from check_silence(line_times, gaps, checker.limits)
    english = [line for line in material.lines if is_english(line.language)]
    for line, pronouns in zip(english, check_pronouns(english), strict=True):
        yield from _with_cue(line, pronouns)
    cast = material.cast
    if cast is not None:
        starts_and_texts = [(line.interval.start, line.text) for line in material.lines]
        # The names of people who are not of the cast can be found in English lines only.
        people = people_named if len(english) == len(material.lines) else None
        names = check_names(
            starts_and_texts, lambda second: cast.characters(material.film or material.name, second), people
        )
        for line, findings in zip(material.lines, names, strict=True):
            yield from _with_cue(line, findings)
    yield from check_texts(material)


def _with_cue(line: TrackLine, findings: Sequence[Finding]) -> Iterator[Finding]:
    """The findings with the id of the line that they are about."""
    return (replace(finding, cue_id=line.id) for finding in findings)


def _not_checked(material: Material) -> Iterator[str]:
    """Rules that could not be looked at, and why."""
    if material.is_benchmark:
        yield "T2 and T3: slots or budgets are those of a benchmark."
    if material.speech is None:
        yield "T1, T2, T5 and L10: it is not known where anybody speaks; give --speech FILE."
    elif material.speech and not any(u.text for u in material.speech):
        yield "L10: the words of the dialogue are not known; give --speech FILE."
    if all(line.take is None for line in material.lines):
        yield "T4: no line has been spoken yet; shotad render does."
    if material.cast is None:
        yield "L7 and L8: there is no cast; give --cast CAST."
    if material.texts is None:
        yield "L11 and L12: nothing was read from the screen; --read-screen does (it takes a while)."
    languages = {
        line.language.lower().split("-")[0] for line in material.lines if not is_english(line.language)
    }
    without_words = sorted(language for language in languages if not packaged_lists(language))
    with_words = sorted(languages.difference(without_words))
    if with_words:
        listed = ", ".join(with_words)
        yield f"L6, and the passive of L1: they are checked in English only, and lines are in {listed}."
    if without_words:
        listed = ", ".join(without_words)
        yield f"L1 to L6, but for markup and your own words: there are no words for them in {listed}."


@dataclass(frozen=True, slots=True)
class LintTargets:
    """Files given beside what is checked, and which rules are wanted (``only`` empty: all)."""

    speech: Path | None = None
    film: Path | None = None
    cast: Path | None = None
    language: str | None = None
    only: Sequence[str] = ()
    skip: Sequence[str] = ()
    accept: Sequence[str] = ()
    screen: bool = False
    """Whether to read the film's screen, if it has not been."""


SettingsOf = Callable[[Config | None], Config]
"""What holds for a path: the settings asked for, over those of the run that wrote its work folder, if any."""


def lint_paths(
    paths: Sequence[Path], settings: SettingsOf, targets: LintTargets, progress: Progress | None = None
) -> Iterator[LintReport | tuple[Path, ShotadError]]:
    """A report for each path, or why there is none. Raises ShotadError for a wrong rule or single path."""
    rules_and_groups = [*RULES, "T", "L", "A"]
    for name in (*targets.only, *targets.skip):
        # Names in small letters are those of users' own word lists.
        if name.upper() not in rules_and_groups and not name.islower():
            raise UsageError(
                f"There is no rule {name!r}.", f"There are {', '.join(RULES)}; T, L and A mean all of theirs."
            )
    accept_filters = [accept_filter(pattern) for pattern in targets.accept]
    checkers: list[Checker] = []
    for path in paths:
        try:
            file, folder = _lines_file(path)
            report = _lint_file(file, folder, settings, checkers, targets, progress or NoProgress())
            if accept_filters:
                report = _accept(report, folder or file.parent, accept_filters, targets.accept)
        except ShotadError as error:
            if len(paths) == 1:
                raise
            yield path, error
        else:
            yield report


def _accept(
    report: LintReport, folder: Path, filters: Sequence[Callable[[Finding], bool]], patterns: Sequence[str]
) -> LintReport:
    """The report after the findings that ``filters`` let through were accepted in ``folder``.

    ``patterns`` are what the user wrote for the filters (``L4:s00083120``). Raises UsageError where no
    finding is meant.
    """
    accepted: list[Finding] = []
    open_findings: list[Finding] = []
    for finding in report.findings:
        matches = any(is_meant(finding) for is_meant in filters)
        (accepted if matches else open_findings).append(finding)
    if not accepted:
        rules = ", ".join(pattern.strip().partition(":")[0] for pattern in patterns)
        raise UsageError(
            f"Nothing is found that {rules} could mean.",
            "Name rule and line as lint prints them: L4:s00083120.",
        )
    accept_findings(folder, accepted, report.lines)
    return replace(report, findings=tuple(open_findings), accepted=(*report.accepted, *accepted))


def _lint_file(
    file: Path,
    folder: Path | None,
    settings: SettingsOf,
    checkers: list[Checker],
    targets: LintTargets,
    progress: Progress,
) -> LintReport:
    """The report on one file, with the rules that ``targets`` name; a new checker goes into ``checkers``."""
    settings_folder = folder
    if settings_folder is None and targets.film is not None:
        settings_folder = work_folder_of(targets.film)
    run = run_of(settings_folder)
    config = settings(run.config if run else None)
    if run and run.warning and any(name.startswith("lint.") for name in run.withheld):
        progress.note(run.warning)
    language_note = ""
    frame_rate = None
    if targets.speech is not None:
        frame_rate = frame_rate_of_film(targets.film or (run.film if run else None))
    if _is_track(file):
        track = load_track(file)
        material, skipped = track_material(
            track,
            folder,
            speech=targets.speech,
            cast=targets.cast,
            encoding=config.speech.encoding,
            frame_rate=frame_rate,
        )
        extra = recorded_findings(folder, track) if folder is not None and file.name == TRACK else ()
    else:
        cues = read_cues(file)
        language = targets.language
        if language is None:
            texts = (cue.text for cue in cues)
            run_language = config.language if run else None
            language, language_note = language_of_script(file, texts, run_language, config.language)
        material, skipped = script_material(
            file.name,
            cues,
            language,
            speech=targets.speech,
            cast=targets.cast,
            encoding=config.speech.encoding,
            frame_rate=frame_rate,
        )
        extra = ()
        if folder is not None:
            track = load_track(folder / TRACK)
            material, skipped_in_folder = with_folder_material(material, folder, track)
            skipped = (*skipped, *skipped_in_folder)
    if targets.film is not None:
        material = with_film_material(material, targets.film)
    if targets.screen:
        material = _with_screen_texts(material, folder, config, targets, progress)
    # Words are read, and a parser is loaded, once for the same settings.
    checker = next((c for c in checkers if (c.settings, c.fit) == (config.lint, config.fit)), None)
    if checker is None:
        checkers.append(checker := Checker.of(config.lint, config.fit, config.slots))
    report = lint(material, checker, extra=extra, folder=folder or file.parent, skipped=skipped)
    if language_note:
        report = replace(report, notes=(*report.notes, language_note))

    def is_wanted(finding: Finding) -> bool:
        is_named = not targets.only or any(selects_rule(rule, finding.rule) for rule in targets.only)
        return is_named and not any(selects_rule(rule, finding.rule) for rule in targets.skip)

    findings = tuple(filter(is_wanted, report.findings))
    return replace(report, findings=findings, accepted=tuple(filter(is_wanted, report.accepted)))


def _with_screen_texts(
    material: Material, folder: Path | None, config: Config, targets: LintTargets, progress: Progress
) -> Material:
    """The material with the texts of its film, read now unless they were before. Raises UsageError where the
    film is not known."""
    run = run_of(folder)
    film_of_run = run.film if run and run.film and run.film.exists() else None
    film = targets.film or film_of_run
    if film is None:
        raise UsageError(
            f"The screen cannot be read: it is not known which film {material.name} belongs to.",
            "Name the film: --film FILM.",
        )
    record_folder = folder if folder is not None else work_folder_of(film)
    speech = [utterance.interval for utterance in material.speech or ()]
    return replace(material, texts=read_screen(film, record_folder, config, speech, progress=progress))


def _lines_file(path: Path) -> tuple[Path, Path | None]:
    """The file of lines that ``path`` means, and its work folder; None for a script that lies elsewhere."""
    for folder in (path, work_folder_of(path)):
        refuse_special(folder / TRACK)
        if (folder / TRACK).is_file():
            return folder / TRACK, folder
    if path.is_file() and not is_film(path):
        return path, path.parent if _is_track(path) or (path.parent / TRACK).is_file() else None
    beside = "" if path.suffix == ".shotad" else f" or in {work_folder_of(path)}"
    raise WorkFolderError(
        f"{path} has no track: there is no {TRACK} in it{beside}.",
        "Run shotad describe first, or name a work folder or a script.",
    )


def is_film(path: Path) -> bool:
    """Whether a file is none of text, and no package of documents: then it is taken for a film.

    Raises ScriptError for a file that cannot be read.
    """
    try:
        with path.open("rb") as file:
            head = file.read(4096)
    except OSError as error:
        raise ScriptError(f"{path} cannot be read: {error.strerror}.") from None
    is_text = head.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" not in head
    return not is_text and not head.startswith(b"PK\x03\x04")


def _is_track(path: Path) -> bool:
    """Whether a file is a track and no plain script in JSON."""
    if path.suffix.lower() != ".json":
        return False
    try:
        head = parse_json(read_text_file(path, "script", ScriptError, encoding="utf-8").text)
    except (ScriptError, ValueError):
        return path.name == TRACK
    return isinstance(head, dict) and "schema_version" in head and "film" in head


@dataclass(slots=True)
class CachedLineFindings:
    """What `check_each_line` finds, kept for lines that stay the same. For one thread."""

    _conditions: tuple[Material, Checker, frozenset[str]] | None = None
    """All else that the findings depend on."""
    _findings: dict[str, tuple[_LineWithHistory, tuple[Finding, ...]]] = field(default_factory=dict)
    """By the line's id, with the line as it was checked."""

    def findings(self, material: Material, checker: Checker) -> tuple[Finding, ...]:
        """What is wrong with each line; only lines that changed since the last call are checked."""
        # Languages: the verbs that a parser is asked about are those of all of them.
        languages = frozenset(line.language for line in material.lines)
        conditions = (replace(material, lines=(), end=material.duration), checker, languages)
        if conditions != self._conditions:
            self._conditions, self._findings = conditions, {}

        texts, history = [line.text for line in material.lines], checker.limits.history
        lines: dict[str, _LineWithHistory] = {}
        changed: dict[str, list[Finding]] = {}
        for number, line in enumerate(material.lines):
            lines[line.id] = (line, tuple(texts[max(number - history, 0) : number]))
            if line.id not in self._findings or self._findings[line.id][0] != lines[line.id]:
                changed[line.id] = []
        for finding in check_each_line(material, checker, only=changed):
            changed[finding.cue_id or ""].append(finding)

        findings: dict[str, tuple[_LineWithHistory, tuple[Finding, ...]]] = {}
        for line_id, checked_line in lines.items():
            if line_id in changed:
                findings[line_id] = (checked_line, tuple(changed[line_id]))
            else:
                findings[line_id] = self._findings[line_id]
        self._findings = findings
        return tuple(chain.from_iterable(line_findings for _, line_findings in findings.values()))


_LineWithHistory = tuple[TrackLine, tuple[str, ...]]
"""A line with the texts just before it, which is all that its rules look at."""
