from .fitting import (
    MAX_NEIGHBOURS as MAX_NEIGHBOURS,
    fit as fit,
    neighbourhood as neighbourhood,
)
from .kinds import (
    Fitting as Fitting,
    Spoken as Spoken,
    Take as Take,
    Unspoken as Unspoken,
)
from .levels import (
    DUCKING_HOLD as DUCKING_HOLD,
    MeasuredSound as MeasuredSound,
    limit_of as limit_of,
)
from .loudness import (
    Loudness as Loudness,
    LoudnessCurve as LoudnessCurve,
)
from .making import (
    RECORD as RECORD,
)
from .mix import (
    Part as Part,
    estimate_loudness as estimate_loudness,
    estimated_make_up as estimated_make_up,
    excerpt as excerpt,
    loudness_of as loudness_of,
    measure_nearby as measure_nearby,
    measure_whole as measure_whole,
    place_lines as place_lines,
)
from .outputs import (
    FILMS as FILMS,
    MEANINGS as MEANINGS,
    SOUNDS as SOUNDS,
    Kind as Kind,
    OutputFile as OutputFile,
    Rendered as Rendered,
    parse_wanted as parse_wanted,
    summary as summary,
    wanted_files as wanted_files,
)
from .programme import (
    RATE as RATE,
    Programme as Programme,
    programme_of as programme_of,
    silent_programme as silent_programme,
)
from .pronunciation import (
    EMPTY_LEXICON as EMPTY_LEXICON,
    Lexicon as Lexicon,
    spoken_text as spoken_text,
)
from .render import (
    check_wanted as check_wanted,
    run_render as run_render,
)
from .speaking import Checker as Checker, speak_checked as speak_checked
from .takes import (
    CachingStudio as CachingStudio,
    EstimatingStudio as EstimatingStudio,
    flac as flac,
    forget_takes as forget_takes,
    read_lexicon as read_lexicon,
    wav as wav,
)
from .voice_engines import (
    AUTO as AUTO,
    AUTO_KINDS as AUTO_KINDS,
    Speaker as Speaker,
    VoiceInfo as VoiceInfo,
    kind_class as kind_class,
    make_voice as make_voice,
    plain_language as plain_language,
    privacy_notes as privacy_notes,
    voices as voices,
)
from .voicing import (
    NO_WORDS as NO_WORDS,
    VOICES as VOICES,
    blocking_findings as blocking_findings,
    fit_track as fit_track,
    pronunciations as pronunciations,
    unspeakable_reason as unspeakable_reason,
)
