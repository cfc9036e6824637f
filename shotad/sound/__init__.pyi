from . import (
    alignment as alignment,
    film_lexicon as film_lexicon,
    fitting as fitting,
    kinds as kinds,
    kokoro_voice as kokoro_voice,
    levels as levels,
    making as making,
    mix as mix,
    outputs as outputs,
    own_voices as own_voices,
    playing as playing,
    programme as programme,
    pronunciation as pronunciation,
    recordings as recordings,
    render as render,
    spoken_subtitles as spoken_subtitles,
    takes as takes,
    voice_engines as voice_engines,
    voicing as voicing,
)
from .kinds import (
    Fitting as Fitting,
    Pause as Pause,
    Spoken as Spoken,
    Take as Take,
)
from .levels import (
    MeasuredSound as MeasuredSound,
)
from .loudness import (
    Loudness as Loudness,
    LoudnessCurve as LoudnessCurve,
)
from .mix import (
    excerpt as excerpt,
    measure_whole as measure_whole,
    place_lines as place_lines,
)
from .outputs import (
    OutputFile as OutputFile,
    Rendered as Rendered,
)
from .programme import (
    Programme as Programme,
    programme_of as programme_of,
)
from .pronunciation import (
    Lexicon as Lexicon,
)
from .render import (
    run_render as run_render,
)
from .speaking import (
    Checker as Checker,
    speak_checked as speak_checked,
)
from .takes import (
    CachingStudio as CachingStudio,
    EstimatingStudio as EstimatingStudio,
    read_lexicon as read_lexicon,
)
from .voice_engines import (
    Speaker as Speaker,
    VoiceInfo as VoiceInfo,
    make_voice as make_voice,
    voices as voices,
)
from .voicing import (
    fit_track as fit_track,
)
