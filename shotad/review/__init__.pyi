from .opening import (
    OpenReview as OpenReview,
    open_review as open_review,
)
from .parts import (
    track_film as track_film,
)
from .serving import (
    ReviewServer as ReviewServer,
    serve as serve,
)
