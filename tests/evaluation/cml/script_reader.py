"""An engine that answers CML-Bench's questions by rule, and a screenplay that gives every metric a figure."""

from __future__ import annotations

import json
import re
from typing import Any

from shotad.core import Abilities, Identity, Reply, Request
from shotad.evaluation import MetricContext
from tests.evaluation.judges.judging import ScriptedEngine, bench_of, keys_of, lines_of, quotes
from tests.evaluation.standins import Words

HERE = "tests.evaluation.cml.script_reader"
READER, MUTE = f"{HERE}:ScriptReader", f"{HERE}:Mute"
GEMMA, QWQ = f"{HERE}:Gemma", f"{HERE}:Qwq"

SCRIPT = """<script>
<scene>
<stage_direction>INT. LIGHTHOUSE - NIGHT</stage_direction>
<scene_description>Rain beats on the lamp room. MARA polishes the lens. TOM climbs the stairs.</scene_description>
<character>MARA</character>
<dialogue>Who let the boat go out tonight?</dialogue>
<character>TOM</character>
<dialogue>I let the boat go, and I hate it.</dialogue>
<parenthetical>(quietly)</parenthetical>
<character>MARA</character>
<dialogue>I will ring the harbour bell.</dialogue>
<action>Mara rings the harbour bell.</action>
<character>TOM</character>
<dialogue>Will the bell bring the boat home?</dialogue>
<character>MARA</character>
<dialogue>Bells love the fog, the fog loves nobody.</dialogue>
</scene>
<scene>
<stage_direction>EXT. HARBOUR - DAWN</stage_direction>
<scene_description>The boat drifts to the harbour wall. The bell rings and rings.</scene_description>
<character>TOM</character>
<dialogue>I will tie the boat to the wall.</dialogue>
<scene_description>Tom ties a rope to an iron ring.</scene_description>
</scene>
<scene>
<stage_direction>INT. LIGHTHOUSE - DAY</stage_direction>
<scene_description>Mara sleeps beside the lens. Tom puts out the lamp.</scene_description>
</scene>
</script>"""

PUBLISHED = {
    "dc1_adjacent_similarity": 0.4150812, "dc2_qa_relevance": 0.3380430, "dc3_topic_concentration": 0.6877354,
    "cc1_emotional_stability": 0.75, "cc2_linguistic_consistency": 0.7287121,
    "cc3_action_intention_alignment": 0.5830660, "pr1_scene_similarity": 0.4057396,
    "pr2_event_coherence": 0.2463183,
}  # fmt: skip
"""What the published code (364c744) gives for this script, told the same features and the same vectors."""


def word_context(*assignments: str, model: str = "words") -> MetricContext:
    """A context with these settings, whose vectors are by words in common, as if by the model of this name."""
    context = bench_of(*assignments)
    vectors = Words()
    vectors.identity = {"model": model, "revision": "1"}
    context.once("vectors", lambda: vectors)
    return context


def keywords(line: str) -> list[str]:
    return [word for word in re.findall(r"[a-z]+", line.lower()) if len(word) > 3][:5]


def emotion(line: str) -> str:
    return "negative" if "hate" in line else "positive" if "love" in line else "neutral"


def event(scene: str) -> str:
    """The first sentence behind a scene's heading."""
    return re.split(r"(?<=\.) ", re.sub(r"^[A-Z.]+ [A-Z]+ - [A-Z]+ ", "", scene))[0]


class ScriptReader(ScriptedEngine):
    identity = Identity("reader", "r1", "1")
    abilities = Abilities(batch=2)

    def answer(self, request: Request) -> str:
        kinds = {"keywords": self._turn, "analysis": self._analysis}
        return json.dumps(kinds.get(keys_of(request)[0], self._list)(request))

    def _turn(self, request: Request) -> dict[str, Any]:
        (line,) = quotes(request, "Line")
        return {
            "keywords": keywords(line), "question": ("yes" if line.rstrip().endswith("?") else "no"),
            "emotion": emotion(line), "intention": ("yes" if line.startswith("I will") else "no"),
        }  # fmt: skip

    def _list(self, request: Request) -> dict[str, Any]:
        (key,), lines = keys_of(request), lines_of(request)
        return {
            key: [event(line) for line in lines] if key == "events" else [f"Of {one}" for one in lines[:3]]
        }

    def _analysis(self, request: Request) -> dict[str, Any]:
        about = lines_of(request) or re.findall(r'"[^"]*"', request.messages[1].text)
        return {"analysis": f"It plays with {about[0]}."}


class Mute(ScriptReader):
    """Says nothing that can be read."""

    def reply(self, request: Request) -> Reply:
        return Reply("Well, …")


class Gemma(ScriptReader):
    identity = Identity("reader", "google/gemma-2-2b-it", "1")


class Qwq(ScriptReader):
    identity = Identity("reader", "Qwen/QwQ-32B", "1")
