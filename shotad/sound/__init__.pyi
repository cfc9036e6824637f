from .ducking import SLOPES as SLOPES
from .fitting.nearby import (
    MOST as MOST,
    Neighbourhood as Neighbourhood,
    Placed as Placed,
    fit_near as fit_near,
    neighbourhood as neighbourhood,
)
from .kinds import Spoken as Spoken, Take as Take, Unspoken as Unspoken
from .loudness import Course as Course, Loudness as Loudness
from .mixing.excerpt import (
    Excerpt as Excerpt,
    foreseen_make_up as foreseen_make_up,
    limit_of as limit_of,
    nearby as nearby,
    sampled as sampled,
    whole as whole,
)
from .mixing.prepare import Heard as Heard, lay as lay
from .mixing.programme import (
    Programme as Programme,
    no_programme as no_programme,
    programme_of as programme_of,
)
from .mixing.takes import loudness_of as loudness_of
from .pronunciation.lexicon import NOTHING as NOTHING, Lexicon as Lexicon
from .pronunciation.writtenout import said as said
from .rendering.ledger import RECORD as RECORD
from .rendering.outputs import (
    FILMS as FILMS,
    MEANINGS as MEANINGS,
    SOUNDS as SOUNDS,
    Kind as Kind,
    Wanted as Wanted,
    parse_wanted as parse_wanted,
    wanted_files as wanted_files,
)
from .rendering.rendered import Rendered as Rendered, summary as summary
from .rendering.run import run_render as run_render
from .rendering.validate import check_wanted as check_wanted
from .rendering.voicing import (
    VOICES as VOICES,
    WORDLESS as WORDLESS,
    has_words as has_words,
    pronunciations as pronunciations,
)
from .studio import Keeping as Keeping, read_lexicon as read_lexicon
from .voice_engines import (
    AUTO as AUTO,
    BY_ITSELF as BY_ITSELF,
    kind_class as kind_class,
    make_voice as make_voice,
    notice as notice,
    voices as voices,
)
from .voice_engines.base import Speaker as Speaker, VoiceInfo as VoiceInfo, plain_language as plain_language
from .voice_engines.takefile import flac as flac, wav as wav
