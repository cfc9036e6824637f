"""Word lists of the English lint rules, as patterns over text whose quotations are blanked out.

Gathered from describers' guidelines and from what models write. Every pattern was run over human AD;
those that hit it were narrowed or made warnings.
"""

from __future__ import annotations

import re
from collections.abc import Sequence


def _words(text: str) -> str:
    """``a b`` → ``(?:a|b)``; an underscore stands for a space inside one entry."""
    return "(?:" + "|".join(word.replace("_", " ") for word in text.split()) + ")"


def _any(patterns: Sequence[str], flags: re.RegexFlag = re.IGNORECASE) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), flags)


ARTICLES = frozenset(("a", "an", "the"))
"""Words that L9 does not compare."""

_WE_YOU = _words(
    "we we're we've we'll we'd you you're you'll you've you'd your yours ours ourselves yourself"
)
_I_VERBS = _words("can see am cannot think will have would do notice was saw hear feel believe")

PERSON = _any(
    (
        rf"(?i:\b{_WE_YOU}\b)",
        r"\b(?:[Oo]ur|[Uu]s|[Mm]yself|[Mm]y|me)\b(?! (?i:god|goodness)\b)",
        rf"(?<!\w )\bI(?:'(?:m|ll|ve|d)\b| {_I_VERBS}\b)",
        rf"\b(?:and|but|as|that|because|,) I (?:{_I_VERBS}\b)",
        r"(?i:\b(?:the|a) viewers?\b|\bviewers\b)",
        r"(?i:\bthe audience (?:is (?:shown|given)|sees?|can see|learns?)\b)",
    ),
    re.NOFLAG,
)
"""L2: first and second person, and those who watch. Not US, nor Elizabeth I, nor a coal mine."""

_CAMERA_DOES = _words(
    "pans? zooms? tilts? tracks? dollies cuts? follows? lingers? rises? descends? circles? rotates? "
    "shifts? moves? focus(?:es)? shows? reveals? captures? glides? drifts? sweeps? travels? view angle "
    "shot movement perspective pulls?_(?:back|out|away) pushes?_in "
    "is_(?:positioned|static|fixed|still|placed|focused|moving)"
)
_SIZES = _words(
    "wide medium long full tracking establishing aerial overhead reverse static panning drone "
    "over-the-shoulder point-of-view pov crane low-angle high-angle wide-angle insert opening final "
    "next previous close"
)
_GUNSHOT = _words(
    "is_fired are_fired rings? glass(?:es)? hits? misses goes echoes clock strikes from_(?:the|a)_gun"
)
_DRINKS = _words(
    "whiske?y vodka tequila rum gin bourbon schnapps liquor espresso coffee brandy morphine scotch sake"
)
_SHOT_DOES = _words(
    "cuts pans zooms opens_(?:with|on|in) transitions shifts switches depicts shows features captures "
    "focuses begins unfolds takes_place ends_with"
)
_SIDES = _words(
    "left right top bottom edge cent(?:re|er) middle corner side part half portion foreground background"
)

CAMERA = _any(
    (
        rf"\b(?:the )?camera (?:slowly |then |slightly |gently |now )?{_CAMERA_DOES}\b",
        r"\b(?:extreme )?close-ups?\b(?! magic| (?:[\w-]+ ){0,4}(?:photo|picture|snapshot|portrait))",
        r"\bcloseups?\b|\bclose up (?:of|on|shot)\b",
        rf"\b{_SIZES} shots?\b(?! {_GUNSHOT})",
        rf"(?:^|[.:;,] )(?:(?:in|with) )?(?:an?|the|another|several)? ?shots? of (?!(?:\w+ )?{_DRINKS}\b)",
        rf"\bthe (?:shot|scene|sequence|frame|clip) (?:then |now |slowly )?{_SHOT_DOES}\b",
        r"\bpans? (?:to|across|left|right|up|down|over|around|slowly)\b",
        r"\b(?:enters?|exits?|leaves?|re-enters?) (?:the )?frame\b",
        r"\b(?:in|into|out of|off) frame\b|\bfreeze[- ]frames?\b",
        rf"\b{_SIDES} of (?:the )?frame\b",
        r"\b(?:low|high|wide|camera|dutch|eye-level)[- ]angle\b",
        r"\bpov\b|\bpoint-of-view\b",
        r"\b(?:cross-?fades?|jump cuts?|match cuts?|smash cuts?|fade-?outs?|fade-?ins?)\b",
        r"\bdepth of field\b|\bcinematograph\w*|\bthe (?:framing|composition)\b",
    )
)
"""L3, error: the film's making. Not the gunshot, the door's frame, the frying pan, closing up the shop."""

CAMERA_PERHAPS = _any(
    (
        r"\b(?:towards?|at|into|to|from|facing|faces) (?:the )?camera\b|\bthe camera\b",
        r"\boff[- ]?(?:camera|screen)\b",
        r"\b(?:in|out of) focus\b",
        r"\b(?:zooms?|zooming) (?:in|out)\b",
        rf"\b{_SIDES} of (?:the )?screen\b",
        r"\b(?:cuts?|fades?|dissolves?) (?:to|in|out|into|away|from)\b(?! the (?:bone|chase|quick))",
        rf"\bshots? of (?!(?:\w+ )?{_DRINKS}\b)",
        r"\bthe (?:scene|shot|sequence)\b|\bmontage\b|\binto the frame\b",
    )
)
"""L3, warning: may also be a thing in the story, or is common in human AD."""

_SIGNS = _words(
    "suggest indicat imply impli symboli[sz] signif conve evok emphasi[sz] highlight underscor foreshadow"
)
_MOODY = _words(
    "mysterious ominous eerie sinister foreboding dramatic intense poignant serene tense suspenseful "
    "whimsical enigmatic menacing haunting surreal majestic magical emotional melanchol\\w+ beautiful "
    "stunning breathtaking gorgeous lovely magnificent picturesque mesmeri[sz]ing"
)
_FEELINGS = _words(
    "sad happi nervous angri anxious fearful joyful desperate hopeful jealous guilti proud thoughtful "
    "curious suspicious contemplative pensive wistful resigned determined confident relieved"
)
_MINDS = _words("wants? hopes? hoping intends? decides? deciding reali[sz]es? remembers? wonders? wondering")

_GUESSES = _words(
    "seems? seeming(?:ly)? apparently presumably evidently obviously clearly possibly perhaps maybe probably"
)

INTERPRETIVE = _any(
    (
        rf"\b{_GUESSES}\b|\b(?:most likely|likely \w+ing)\b|\b(?:might|may|could|must) be\b",
        r"\bappears? to (?:be|have)\b|\bas (?:if|though)\b",
        rf"\b{_SIGNS}(?:e?s|ed|ing|ying|ys|y|ies|fies)\b",
        r"\ba sense of\b|\b(?:deep|lost) in thought\b",
        r"\b(?:mood|atmosphere|ambi[ae]nce|tension|tone) (?:is|of|grows?|rises?|builds?|remains?|becomes?)\b",
        rf"\b{_MOODY}(?:ly)?\b|\b{_FEELINGS}ly\b",
        rf"\b{_MINDS} (?:to|that|if|whether)\b|\b(?:ready|determined|eager|about) to\b",
    )
)
"""L4: what it means, how it feels, why it is done."""

_PAST = _words(
    "went came saw took ran sat stood got gave made said told held fell began found kept knew threw "
    "drew rose "
    "wore wrote spoke shook drove broke brought caught fought bent sent felt met led left grew flew rode hid "
    "swung climbed stuck slid spun struck swam sang sank woke crept dug fled"
)
_ADVERB = r"(?:\w+ly|then|soon|never|also|not|just|now)"
_SUBJECT = _words("he she they")
_EVENTS = _words(
    "seen shown thrown hurled flung dragged pushed pulled shoved hit struck shot killed stabbed knocked led "
    "taken brought given handed carried lifted grabbed kicked punched slapped attacked chased tackled hugged "
    "kissed greeted joined followed interrupted watched helped approached escorted tossed blown swept picked "
    "dropped lowered raised opened pulled_out"
)
_DONE = (
    rf"(?:{_EVENTS}|\w{{2,}}ed|made|held|caught|driven|eaten|bitten|torn|bound|sent|told|met|left|drawn"
    rf"|beaten)"
)
_STATES = _words(
    "seated parked dressed positioned located situated placed perched stationed sprawled crouched huddled "
    "curled slumped propped gathered stopped"
)
_WILL_NOT = (
    r"(?<!\bthe )(?<!\bhis )(?<!\bher )(?<!\btheir )(?<!\ba )(?<!\bof )(?<!\bfree )(?<!\bgood )(?<!\bown )"
)

TENSE = _any(
    (
        rf"(?:^|[.!?;,] |\b(?:and|but|as|while|when) ){_SUBJECT} (?:{_ADVERB} )?"
        r"(?:{past}|(?!need|feed|bleed|speed|proceed|heed|exceed|succeed|breed)\w\w+ed)\b".replace(
            "{past}", _PAST
        ),
        rf"(?:^|(?<=[.!?;] ))(?-i:[A-Z])[a-z]+ (?:{_ADVERB} )?\w\w+ed (?:the|his|her|their|its|him|them)\b",
        r"\b(?:was|were|did|had been)\b",
        rf"(?-i:{_WILL_NOT}\bwill) (?:{_ADVERB} )*(?:be|have|do|go|come|take|make|get|see|find|need|try"
        rf"|become)\b",
        rf"\b{_SUBJECT} (?:will|shall)\b|\b{_SUBJECT}'ll\b",
        r"\b(?:is|are) going to (?:be|have|do|take|make|get|see|kill|shoot|fall|jump|attack|leave|die|say)\b",
    )
)
"""L1: what was or will be. The first two words of a sentence count as past only before an object."""

PASSIVE = _any(
    (
        rf"\b(?:is|are|gets?) (?:{_ADVERB} )*(?:being|getting) {_DONE}\b",
        rf"\b(?:is|are|gets?|be) (?:{_ADVERB} )*{_EVENTS}\b(?! of\b)",
        rf"\b(?:is|are|gets?|being|be) (?:{_ADVERB} )*(?!{_STATES})(?:{_DONE}) (?:\w+ )?by\b",
    )
)
"""L1: something is done to somebody. What is shut, covered or dressed is a state, not a passive."""

_TITLES = _words(
    "Mr Mrs Ms Miss Mx Messrs Dr Doctor Prof Professor Sir Madam Captain Capt Sergeant Sgt Lieutenant Lt "
    "Colonel Col Corporal Commander Admiral Officer Detective Inspector Reverend Senator President Judge"
)

TITLE = re.compile(rf"\b{_TITLES}\b\.? (?=(?:[A-Z][\w.'-]* )?[A-Z]\w+)")
"""L13: a title before a name."""

_ANYBODY = _words("man woman boy girl guy lady person gentleman")

SOMEONE = _any(
    (
        rf"(?:^|(?<=[.!?;] )|(?<=, while )|(?<=, as )|(?<=\bwhile )|(?<=, and ))"
        rf"(?P<who>(?:a|an|the) {_ANYBODY})\b(?!'s|-| and\b)",
    )
)
"""Stage II's wish: somebody without a name is "he", "she" or "they" where they act, never "a man"."""

TALK = _any(
    (
        r"\b(?:speaks?|talks?|chats?|convers(?:es?|ing)|speaking|talking|chatting|discuss(?:es|ing)?)\b"
        r"(?! show)(?! into\b)(?! window)(?<!small talk)(?<!pep talk)(?<!a talk)(?<!the talk)(?<!a chat)"
        r"(?<!without speaking)(?<!without talking)",
        r"\b(?:in|into|have|has|having|hold|holds|continues?|through) (?:(?:a|an|their|the|his|her) )?"
        r"(?:\w+ )?conversations?\b",
        r"\b(?:says|is saying|are saying)\b(?!  |,  )",
    )
)
"""Stage II's wish: no talk about talking, which is heard."""

_MEDIA = _words("images? videos? video_clips? clips? screenshots?")
_MEDIA_DO = _words(
    "shows? depicts? features? captures? begins? starts? opens? ends? is are presents? portrays? "
    "contains? displays?"
)
_HELP = _words("assist help provide describe identify see determine")
_UNKNOWN = _words("not_visible not_specified not_provided not_clear no_text none n/?a null unknown")
_LABELS = _words("ad summary description audio_description output answer response summarized_ad note caption")

RESIDUE = _any(
    (
        rf"\b(?:the|this|these|each|first|second|last|next|final) {_MEDIA} (?:also |then )?{_MEDIA_DO}\b",
        rf"\b(?:in|throughout) (?:the|this|these) (?:given )?(?:{_MEDIA}|frames?|scenes?)(?=[,.;:]|$)",
        r"\bthis (?:scene|image|video|frame|clip|description)\b",
        r"\bthe (?:first|second|third|fourth|next|last|final) (?:few )?frames?\b",
        r"\b(?:shot|frame|step|factor|image) \d+\b",
        r"\b(?:as|being) an? (?:ai|language model|assistant)\b",
        rf"\bI(?:'m| am) (?:sorry|unable|not able)\b|\bI (?:cannot|can't) {_HELP}\b",
        r"\b(?:cannot|can't) (?:be determined|assist with|help with that)\b",
        r"\bunable to (?:determine|identify the|provide|describe)\b",
        r"^\s*(?:sure|certainly|of course|okay|absolutely)[,!.] (?:here|i|let|this|the summary)\b",
        r"\bhere(?:'s| is| are) (?:the|an?|your|my) (?:[\w-]+ ){0,3}(?:description|sentence|summary|ad)s?\b",
        rf"^\s*{_LABELS}[ \t]*:[ \t]*\S",
        r"\b(?:no|not enough|insufficient) (?:information|context|details?) (?:(?:is|are) )?\b"
        r"(?:provided|given|available)\b",
        rf"^\W*{_UNKNOWN}\W*$",
        r"^\s*(?:main |key )?(?:characters?|actions?|interactions?|objects?|facial expressions?|environment)"
        r"[ \t]*:",
        r"\b(?:none|not|nothing) (?:measured|mentioned|specified|described|stated)\b",
        r"^\W*(?:one|a|the) (?:succinct |concise |short )+sentence\b",
        r"\b(?:red|colou?red) (?:box|rectangle|circle|border)s? (?:around|marks?|indicates?|highlights?)\b",
        r"\bbounding box(?:es)?\b",
        r"\b(?:based on|according to) the (?:given )?(?:description|information|frames?|images?|video)\b",
    )
)
"""L5: what a model says about its task instead of the film."""

MARKUP = re.compile(
    r"\*\*|\b__\w|^\s{0,3}#{1,6}\s|```|`[^`]+`|^\s*(?:[-*•]|\d{1,2}[.)])\s+\S|<\|?/?[a-z_]+\|?>"
    r"|\[/?(?:INST|SYS)\]|\{\s*[\"'“][\w ]+[\"'”]\s*:|[\"“]\s*\}|\\n|^\s*[\[{]|https?://|\ufffd",
    re.MULTILINE | re.IGNORECASE,
)
"""L5: markdown, lists, JSON, tokens of a chat template."""
