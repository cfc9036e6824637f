from .open_apps import (
    OpenFilms as OpenFilms,
    OpenReview as OpenReview,
    open_films as open_films,
    open_review as open_review,
)
from .parts import (
    track_film as track_film,
)
from .playable import (
    browser_kind as browser_kind,
)
from .proxy import (
    CopyOrder as CopyOrder,
    make_copy as make_copy,
)
from .server import (
    ReviewServer as ReviewServer,
    serve as serve,
    serve_films as serve_films,
)
