"""A CSV with the heads that Word and Excel scripts have, in the language of who writes it."""

from __future__ import annotations

import pytest

from shotad.script.formats import parse_script

HEADS = (
    "Von;Bis;Text", "Beginn;Ende;Audiodeskription", "Début;Fin;Phrase", "Entrada;Salida;Frase",
    "Inizio;Fine;Frase", "TC In;TC Out;Description", "start;end;text", "In;Out;Line",
)  # fmt: skip


@pytest.mark.parametrize("heads", HEADS)
def test_heads_in_any_language(heads: str) -> None:
    script = parse_script(f"{heads}\n0:01,5;0:02,5;Ein Hund bellt.\n".encode(), "hof.csv")
    assert [(cue.interval.start, cue.interval.end, cue.text) for cue in script.cues] == [
        (1.5, 2.5, "Ein Hund bellt.")
    ]


def test_the_very_names_go_first() -> None:
    table = "timecode,line,start,end,text\n00:00:09,7,1,2,A dog barks.\n"
    cue = parse_script(table.encode(), "yard.csv").cues[0]
    assert (cue.interval.start, cue.text) == (1.0, "A dog barks.")
