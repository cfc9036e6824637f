from .fitting import (
    MOST as MOST,
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
    HOLD as HOLD,
    Heard as Heard,
    limit_of as limit_of,
)
from .loudness import (
    Course as Course,
    Loudness as Loudness,
)
from .making import (
    RECORD as RECORD,
)
from .mix import (
    Part as Part,
    excerpt as excerpt,
    foreseen_make_up as foreseen_make_up,
    lay as lay,
    loudness_of as loudness_of,
    nearby as nearby,
    sampled as sampled,
    whole as whole,
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
    no_programme as no_programme,
    programme_of as programme_of,
)
from .pronunciation import (
    NOTHING as NOTHING,
    Lexicon as Lexicon,
    said as said,
)
from .render import (
    check_wanted as check_wanted,
    run_render as run_render,
)
from .speaking import Checker as Checker, speak_checked as speak_checked
from .takes import (
    Foreseeing as Foreseeing,
    Keeping as Keeping,
    flac as flac,
    forget_takes as forget_takes,
    read_lexicon as read_lexicon,
    wav as wav,
)
from .voice_engines import (
    AUTO as AUTO,
    BY_ITSELF as BY_ITSELF,
    Speaker as Speaker,
    VoiceInfo as VoiceInfo,
    kind_class as kind_class,
    make_voice as make_voice,
    notice as notice,
    plain_language as plain_language,
    voices as voices,
)
from .voicing import (
    VOICES as VOICES,
    WORDLESS as WORDLESS,
    fit_track as fit_track,
    pronunciations as pronunciations,
    takers_findings as takers_findings,
    why_unspeakable as why_unspeakable,
)
