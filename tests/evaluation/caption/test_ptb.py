"""Penn Treebank tokens: a table as the Java tool gave it, and texts at hand against the tool itself."""

from __future__ import annotations

import ast
import csv
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from shotad.evaluation.metrics import ptb
from tests.evaluation.caption.cocotools import SHARED, java_tokens, need_cmdad

TABLE = [
    ("Mr. Okafor and Dr. Lindqvist leave the U.S. The door closes.",
     "mr. okafor and dr. lindqvist leave the u.s. the door closes"),
    ("Back in the U.S. he waits.", "back in the u.s. he waits"),
    ("I. He looks up.", "i he looks up"),
    ("J. R. Ewing, J.R. and J.R.R. arrive at 5 a.m. She yawns.",
     "j. r. ewing j.r. and j.r.r. arrive at 5 a.m. she yawns"),
    ("She can't, won't and doesn't look; they've left, he'd stay, I'm sure.",
     "she ca n't wo n't and does n't look they 've left he 'd stay i 'm sure"),
    ("He cannot go. We're gonna leave, gotta run, wanna bet? Gimme that, lemme see.",
     "he can not go we 're gon na leave got ta run wan na bet gim me that lem me see"),
    ("'Tis late. 'Twas dark. 'Cause of 'em, rock 'n' roll.", "'t is late 't was dark 'cause of 'em rock 'n' roll"),
    ("O'Hara's mother-in-law, the dogs' bowls, James' hat, the boss's car.",
     "o'hara 's mother-in-law the dogs bowls james hat the boss 's car"),
    ("It’s “over,” he says. ‘Fine.’ The boys’ coats. Don’t.", "it 's over he says fine the boys coats do n't"),
    ("\"Run!\" she shouts. 'Now!'", "run she shouts now"),
    ("One -- two — three – four - five --- six ----- seven.", "one two three four five six ----- seven"),
    ("Wait... what.... no . . . yes… maybe ......", "wait what no yes maybe"),
    ("Room 3,000 at 10:30, 1.5 metres, $5 or £5 or 20 €, 50% off, No. 7, no. She goes.",
     "room 3,000 at 10:30 1.5 metres $ 5 or # 5 or 20 $ 50 % off no. 7 no she goes"),
    ("The 1990s, the '90s, 1st, 22nd, 3-4, -5, 1/2 cup, 1 1/2 cups, ½ cup.",
     "the 1990s the '90s 1st 22nd 3-4 -5 1/2 cup 1\xa01/2 cups 1/2 cup"),
    ("A well-known, twenty-two-year-old man (Tom) [off screen] {cut}.",
     "a well-known twenty-two-year-old man -lrb- tom -rrb- -lsb- off screen -rsb- -lcb- cut -rcb-"),
    ("www.example.com or http://example.com/a?b=c, mail me@example.com, #tag, @name.",
     "www.example.com or http://example.com/a?b=c mail me@example.com, #tag @name"),
    ("R&B, AT&T, salt & pepper, and/or, 24/7, 12/25/2001, w/o.",
     "r&b at&t salt & pepper and/or 24/7 12/25/2001 w/o"),
    ("Café, naïve Zoë, Dvořák, Ærø, 東京.", "café naïve zoë dvořák ærø 東京"),
    ("Call 555-1234 or (555) 555-1234 :-) ;) :( <3",
     "call 555-1234 or -lrb-555-rrb-\xa0555-1234 :--rrb- ;-rrb- :-lrb- < 3"),
    ("Jan. 5, Feb. 6, etc., St. John's, Ph.D., vs. them, Inc. He.",
     "jan. 5 feb. 6 etc. st. john 's ph.d. vs. them inc. he"),
    ("soft\xadhyphen, non\xa0breaking, zero\u200bwidth, \ufefftab\tand  blanks.",
     "softhyphen non breaking zero width tab and blanks"),
    ("<i>Later</i> &amp; <b>then</b> &lt;3 &quot;so&quot;", "<i> later </i> & <b> then </b> < 3 so"),
    ("Hey!!! What?! So?? Mr. T. Mrs. B, Sgt. Pepper and Co.",
     "hey !!! what ?! so ?? mr. t. mrs. b sgt. pepper and co."),
    ("He's 6'2\" and weighs 200 lbs. No. 5 is alive. Fig. 3. Art. 5.",
     "he 's 6 2 and weighs 200 lbs no. 5 is alive fig. 3 art. 5"),
    ("y'all, o'clock, ma'am, d'Artagnan, L'Oreal, somethin' odd, goin' on, ol' man.",
     "y' all o'clock ma'am d'artagnan l'oreal somethin' odd goin on ol' man"),
    ("C++ and C# and a_b and **bold** and a*b and x = y + z ~ 5.",
     "c++ and c# and a_b and ** bold ** and a * b and x = y + z ~ 5"),
    ("A big yellow X.", "a big yellow x."),
    ("", ""),
    (" \t ", ""),
    ("... -- !", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), TABLE)
def test_texts_get_the_tokens_that_the_java_tool_gave(text: str, wanted: str) -> None:
    assert " ".join(ptb.tokens(text)) == wanted


def test_breaks_and_odd_characters_part_words() -> None:
    assert ptb.tokens("one\ntwo\r\nthree\u2028four\x0bfive") == ("one", "two", "three", "four", "five")
    assert ptb.tokens("smile\U0001f600now \ue000private\x01control") == ("smile", "now", "private", "control")


@given(st.text(max_size=60))
def test_any_text_has_tokens_in_lower_case_without_punctuation(text: str) -> None:
    found = ptb.tokens(text)
    assert all(token and " " not in token and "\n" not in token for token in found)
    assert not set(found) & ptb.REMOVED
    assert found == ptb.tokens(text)


def _differences(texts: list[str], folder: Path) -> list[tuple[str, list[str], list[str]]]:
    unique = list(dict.fromkeys(texts))
    found = []
    for text, theirs in zip(unique, java_tokens(unique, folder), strict=True):
        kept = [token for token in theirs if token not in ptb.REMOVED]
        if list(ptb.tokens(text)) != kept:
            found.append((text, list(ptb.tokens(text)), kept))
    return found


@pytest.mark.slow
def test_the_java_tool_gives_the_same_for_the_table_and_all_of_cmdad(tmp_path: Path) -> None:
    texts = [*(text for text, _ in TABLE), *need_cmdad()]
    with (SHARED / "cmd-ad" / "cmdad_gt_action.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            texts.append(row["text_gt_wo_char"])
            texts.extend(ast.literal_eval(row["gt_action"]) if row["gt_action"].startswith("[") else [])
    assert len(texts) > 20000
    assert _differences(texts, tmp_path) == []
