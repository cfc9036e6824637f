"""Requests as the protocol writes them, and answers read back.

Order within a request: turns as they come, the system's first; in the turn that the clip belongs to, the
frames before the text. Servers keep what they have computed for the longest beginning that a request
shares with an earlier one. Of the turn's own text hardly a sentence is the same from slot to slot, but the
same frames, which cost most, are asked about again and again (repairs, the second look), with other words
after them. Models are also trained with pictures first.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PIL import Image as Pictures

from shotad.core import Clip, EndpointSettings, Image, Message, Request, Usage

Body = dict[str, Any]

_SEED_BITS = 0x7FFF_FFFF
"""Some servers read the seed as a signed 32-bit number and refuse a negative one."""
JPEG_QUALITY = 75
"""Of the frames sent: Pillow's own default; the detail that a server sees is ``openai.detail``."""
_SCHEMA_NAME = "answer"
_AFTER_THOUGHT = re.compile(r"^.*</think(?:ing)?>", re.DOTALL)
_UNENDED_THOUGHT = re.compile(r"^\s*<think(?:ing)?>.*$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Answer:
    """A chat completion. ``finish`` is the server's own word for why it ended, in small letters."""

    text: str
    finish: str
    refusal: str
    usage: Usage


def body_of(request: Request, model: str, settings: EndpointSettings) -> Body:
    """The request as JSON, with all that it would like to say; a server's `Dialect` may know less."""
    sampling = request.sampling
    body: Body = {
        "model": model,
        "messages": messages_of(request, settings),
        "max_tokens": sampling.max_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "seed": seed_of(request.seed),
    }
    if request.schema is not None and settings.structured != "off":
        schema = {"name": _SCHEMA_NAME, "strict": True, "schema": strict(request.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def seed_of(seed: int) -> int:
    """The seed as every server takes it, 31 bits: ``0xFFFF_FFFF → 0x7FFF_FFFF``."""
    return seed & _SEED_BITS


def messages_of(request: Request, settings: EndpointSettings) -> list[Body]:
    """All turns. The clip goes with the turn marked for it, else with the last of the user's."""
    turns = request.messages
    place = _place_of_clip(turns) if request.clip is not None else None
    return [
        {
            "role": turn.role,
            "content": _with_frames(turn.text, request.clip, settings)
            if index == place and request.clip is not None
            else sound(turn.text),
        }
        for index, turn in enumerate(turns)
    ]


def _place_of_clip(turns: tuple[Message, ...]) -> int | None:
    users = [index for index, turn in enumerate(turns) if turn.role == "user"]
    marked = [index for index, turn in enumerate(turns) if turn.with_clip]
    return next(iter(marked), users[-1] if users else None)


def _with_frames(text: str, clip: Clip, settings: EndpointSettings) -> list[Body]:
    frames = [_picture(image, settings) for image in clip.images]
    return [*frames, {"type": "text", "text": sound(text)}]


def _picture(image: Image, settings: EndpointSettings) -> Body:
    data = base64.b64encode(jpeg(image, JPEG_QUALITY)).decode()
    return {
        "type": "image_url",
        "image_url": {"url": f"data:image/jpeg;base64,{data}", "detail": settings.detail},
    }


def jpeg(image: Image, quality: int) -> bytes:
    """A frame as JPEG, ``quality`` 1 to 100; Pillow's, as in the published code, whose quality is 75."""
    file = io.BytesIO()
    Pictures.fromarray(image).save(file, "JPEG", quality=quality)
    return file.getvalue()


def strict(schema: Any) -> Any:
    """A schema as OpenAI's strict mode wants it: every object closed, all of its properties required."""
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    made = {key: strict(value) for key, value in schema.items()}
    if made.get("type") == "object" and isinstance(made.get("properties"), dict):
        made = {**made, "additionalProperties": False, "required": list(made["properties"])}
    return made


def answer_in(document: Any) -> Answer | None:
    """The answer in a chat completion; None where the document is no chat completion."""
    match document:
        case {"choices": [{"message": {**message}, **choice}, *_], **rest}:
            return Answer(
                text=_without_thought(_text(message.get("content"))),
                finish=str(choice.get("finish_reason") or "stop").lower(),
                refusal=_text(message.get("refusal")).strip(),
                usage=_usage(rest.get("usage")),
            )
    return None


def sound(text: str) -> str:
    """Text that can be written: halves of characters outside the first plane are replaced.

    >>> sound("\\ud83d!") == "\\ufffd!"
    True
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _text(content: Any) -> str:
    """The words of a message: a string, or a list of parts of which the texts count."""
    match content:
        case str():
            return sound(content)
        case list():
            texts = [part.get("text") for part in content if isinstance(part, Mapping) and _is_text(part)]
            return "".join(sound(text) for text in texts if isinstance(text, str))
    return ""


def _is_text(part: Mapping[str, Any]) -> bool:
    return part.get("type") in ("text", "output_text")


def _without_thought(text: str) -> str:
    """The answer without the thinking before it; servers leave out the opening mark, or never close it."""
    return _UNENDED_THOUGHT.sub("", _AFTER_THOUGHT.sub("", text)).strip()


def _usage(said: Any) -> Usage:
    counts = said if isinstance(said, Mapping) else {}
    return Usage(_count(counts.get("prompt_tokens")), _count(counts.get("completion_tokens")))


def _count(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and 0 <= value < 1e12 else 0
