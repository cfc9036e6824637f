from . import (
    cast_members as cast_members,
    cue as cue,
    dapt as dapt,
    edits as edits,
    embeddings as embeddings,
    english_words as english_words,
    fit as fit,
    formats as formats,
    frame_count as frame_count,
    guidelines as guidelines,
    letters as letters,
    line_checks as line_checks,
    line_mentions as line_mentions,
    names as names,
    newer as newer,
    pace as pace,
    parser as parser,
    reasons as reasons,
    rules as rules,
    table_formats as table_formats,
    track as track,
    track_files as track_files,
    track_texts as track_texts,
    worksheet as worksheet,
)
from .cue import (
    Cue as Cue,
    CueKind as CueKind,
    CueStatus as CueStatus,
    Doubt as Doubt,
    Edit as Edit,
    EditField as EditField,
    LineState as LineState,
    Maker as Maker,
    Provenance as Provenance,
    Translation as Translation,
    count_words as count_words,
)
from .edits import (
    MergeResult as MergeResult,
    merge_edits as merge_edits,
)
from .embeddings import (
    Embedder as Embedder,
    make_embedder as make_embedder,
)
from .fit import (
    split_sentences as split_sentences,
)
from .formats import (
    ALL_FORMATS as ALL_FORMATS,
    FORMATS as FORMATS,
    Format as Format,
    check_script as check_script,
    read_cues as read_cues,
    script_format as script_format,
    write_format as write_format,
)
from .guidelines import (
    RULES as RULES,
    LintReport as LintReport,
    Material as Material,
    TrackLine as TrackLine,
    lines_of_script as lines_of_script,
    lines_of_track as lines_of_track,
)
from .line_checks import (
    SentenceReader as SentenceReader,
)
from .rules import (
    Finding as Finding,
    Level as Level,
)
from .track import (
    Track as Track,
    load_track as load_track,
)
from .track_files import (
    import_into as import_into,
    plan_import_into as plan_import_into,
    present_track as present_track,
    save_track as save_track,
    track_lock as track_lock,
)
from .worksheet import (
    SheetEntry as SheetEntry,
    Worksheet as Worksheet,
)
