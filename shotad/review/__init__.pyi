from .routes import (
    track_film as track_film,
)
from .serving import (
    serve as serve,
)
