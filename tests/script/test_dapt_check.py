"""The DAPT check: W3C's validation documents, each rule on its own, and hostile input."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from shotad.core import ScriptError
from shotad.script import check_script
from shotad.script.dapt_reader import check_dapt, read_dapt

VALIDATION = Path(__file__).parents[3] / "shared" / "data" / "dapt" / "validation"

ROOT = """<?xml version="1.0" encoding="UTF-8"?>
<tt xmlns="http://www.w3.org/ns/ttml" xmlns:ttm="http://www.w3.org/ns/ttml#metadata"
 xmlns:ttp="http://www.w3.org/ns/ttml#parameter"
 xmlns:daptm="http://www.w3.org/ns/ttml/profile/dapt#metadata" xmlns:my="urn:my"
 ttp:contentProfiles="http://www.w3.org/ns/ttml/profile/dapt1.0/content"
 daptm:scriptRepresents="visual" daptm:scriptType="preRecording" xml:lang="en" daptm:represents="visual"
 %s>%s</tt>"""


def document(inner: str = "", attributes: str = "") -> bytes:
    return (ROOT % (attributes, inner)).encode()


NAME = '<ttm:name type="full">A</ttm:name>'
ORIGIN = "<metadata><daptm:daptOriginTimecode>%s</daptm:daptOriginTimecode></metadata>"
FRENCH = '<head><resources><data xml:id="d" xml:lang="fr">AA</data></resources></head>'


def agents(inner: str) -> str:
    """A head with two agents, a and b; what the first of them has."""
    first = f'<ttm:agent xml:id="a" type="person">{inner}</ttm:agent>'
    return f'<head><metadata>{first}<ttm:agent xml:id="b" type="person">{NAME}</ttm:agent></metadata></head>'


def clauses(found: bytes) -> list[str]:
    return [violation.clause for violation in check_dapt(found)]


def suite() -> list[tuple[str, str, str]]:
    if not VALIDATION.is_dir():
        return []
    index = json.loads((VALIDATION / "tests.json").read_text(encoding="utf-8"))
    return [
        (clause, verdict, entry["test"])
        for clause, cases in index.items()
        for verdict in ("valid", "invalid")
        for entry in cases[verdict]
    ]


@pytest.mark.parametrize(("clause", "verdict", "name"), suite())
def test_w3c_validation_documents(clause: str, verdict: str, name: str) -> None:
    data = (VALIDATION / verdict / f"{name}.xml").read_bytes()
    assert set(clauses(data)) == (set() if verdict == "valid" else {clause})
    if verdict == "invalid":
        with pytest.raises(ScriptError) as caught:
            read_dapt(data, name)
        assert caught.value.clause == clause


@pytest.mark.parametrize(("inner", "attributes"), [
    ("", ""),
    ("<head><metadata/></head><body/>", ""),
    ('<body><my:x my:y="1">free</my:x><div my:z="2"/></body>', 'my:a="b"'),
    ('<body timeContainer="par"/>', ""),
    ('<body><div xml:id="a" begin="0.5h" end="31m"/></body>', ""),
    ('<body><div begin="00:00:01.5" dur="10f"/></body>', 'ttp:frameRate="25"'),
    ('<body><div begin="9t"/></body>', 'ttp:tickRate="10"'),
    (f"<head>{ORIGIN % '100:00:00:59'}</head>", 'ttp:frameRate="60" ttp:frameRateMultiplier="1000 1001"'),
    ('<body><div daptm:represents="visual.text.x-sign"/></body>', ""),
    (agents(f'{NAME}<ttm:actor agent="b"/>') + '<body><div ttm:agent="a b"/></body>', ""),
    ('<body><div xml:id="a"><p><span>a<br/>b</span></p></div></body>', ""),
])  # fmt: skip
def test_valid_documents(inner: str, attributes: str) -> None:
    assert check_dapt(document(inner, attributes)) == ()


@pytest.mark.parametrize(("inner", "attributes", "clause"), [
    ("", 'ttp:timeBase="smpte"', "#timeBase-smpte"),
    ("", 'ttp:frameRate="0"', "#frameRate"),
    ("", 'ttp:frameRateMultiplier="1000"', "#frameRateMultiplier"),
    ("<head><animation/></head>", "", "#animation-out-of-line"),
    ('<body timeContainer="seq"/>', "", "#timeContainer"),
    ("<body><p/></body>", "", "#structure"),
    ("<body><div>loose</div></body>", "", "#structure"),
    ("<body/><body/>", "", "#structure"),
    ('<body><div xml:id="a"/><div xml:id="a"/></body>', "", "#structure"),
    ('<body><div begin="00:00:01:10"/></body>', "", "#time-clock-with-frames"),
    ('<body><div begin="wallclock(1)"/></body>', "", "#time-wall-clock"),
    ('<body><div begin="-1s"/></body>', "", "#timing"),
    ('<body><div begin="00:61:00"/></body>', "", "#timing"),
    ('<body><div begin="2s" end="1s"/></body>', "", "#timing"),
    ('<body><div begin="2f"/></body>', "", "#time-offset-with-frames"),
    ('<body><div><p xml:lang="e"/></div></body>', "", "#xmlLang"),
    ('<body><div daptm:langSrc=""/></body>', "", "#textLanguageSource"),
    ('<body><div daptm:descType="scene"/></body>', "", "#descType"),
    ('<body><div><p daptm:represents="audio"/></div></body>', "", "#represents"),
    ('<body><div><p><audio src="#x"/></p></div></body>', "", "#embedded-audio"),
    ("<body/><head/>", "", "#structure"),
    ('<body><div ttm:agent="b"/></body>', "", "#agent"),
    (agents('<ttm:name type="nick">A</ttm:name>'), "", "#agent"),
    (agents(NAME + 2 * '<ttm:actor agent="b"/>'), "", "#agent"),
    (agents(NAME).replace("person", "robot", 1), "", "#agent"),
    (f"<body>{ORIGIN % '10:00:00:00'}</body>", 'ttp:frameRate="25"', "#daptOriginTimecode"),
    (FRENCH + '<body><div><p><audio src="#d"/></p></div></body>', "", "#xmlLang-audio-nonMatching"),
])  # fmt: skip
def test_each_broken_rule_names_its_clause(inner: str, attributes: str, clause: str) -> None:
    assert clauses(document(inner, attributes)) == [clause]


def test_a_script_is_checked_by_what_it_holds_and_an_event_without_an_end_is_no_line(tmp_path: Path) -> None:
    path = tmp_path / "movie.xml"
    path.write_bytes(document("<body/><head/>"))
    assert [str(one) for one in check_script(path)] == ["line 7: head stands after body [#structure]"]
    event = '<body><div xml:id="s00001000" begin="1s"><p>A cat.</p></div></body>'
    with pytest.raises(ScriptError, match="event 's00001000' has no end"):
        read_dapt(document(event), "x")


@pytest.mark.parametrize("data", [
    b"",
    b"\x00\xff",
    "<tt/>".encode("utf-16"),
    b'<?xml version="1.1"?><tt xmlns="http://www.w3.org/ns/ttml"/>',
    document("<body>"),
    document("&nbsp;"),
    document("<my2:x/>"),
    document('<body a="1" a="2"/>'),
])  # fmt: skip
def test_what_is_not_xml_1_0_in_utf8_is_refused(data: bytes) -> None:
    assert clauses(data) == ["#serialization"]


def test_entity_bombs_and_files_are_not_opened(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret", encoding="utf-8")
    laughs = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12))
    bomb = f'<!DOCTYPE tt [<!ENTITY e0 "ha">{laughs}]><tt xmlns="http://www.w3.org/ns/ttml">&e11;</tt>'
    outside = f'<!DOCTYPE tt [<!ENTITY x SYSTEM "{secret.as_uri()}">]><tt xmlns="http://www.w3.org/ns/ttml">&x;</tt>'
    started = time.process_time()
    for data in (bomb, outside):
        (found,) = check_dapt(data.encode())
        assert found.clause == "#serialization"
        assert "secret" not in found.message
    assert time.process_time() - started < 5


@given(st.binary(max_size=300))
def test_any_bytes_get_an_answer(data: bytes) -> None:
    assert check_dapt(data)
