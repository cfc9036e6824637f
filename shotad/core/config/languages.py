"""Languages: which tags there are, and what they are called in English.

A tag is BCP 47's (RFC 5646): a language, and where it matters a script, a region, variants: ``de``,
``de-CH``, ``zh-Hans``, ``sr-Latn-RS``. The languages are those of ISO 639-1, with some of ISO 639-3 that
voices and models know; names follow Unicode's CLDR, codes the standards. A table and no library: the
well-kept ones bring the names of all languages in all languages, 5 to 10 MB.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from shotad.core.errors import UsageError

_LANGUAGES = """
    aa/aar Afar; ab/abk Abkhazian; ae/ave Avestan; af/afr Afrikaans; ak/aka Akan; am/amh Amharic; an/arg
    Aragonese; ar/ara Arabic; as/asm Assamese; av/ava Avaric; ay/aym Aymara; az/aze Azerbaijani; ba/bak
    Bashkir; be/bel Belarusian; bg/bul Bulgarian; bi/bis Bislama; bm/bam Bambara; bn/ben Bengali;
    bo/bod/tib Tibetan; br/bre Breton; bs/bos Bosnian; ca/cat Catalan; ce/che Chechen; ch/cha Chamorro;
    co/cos Corsican; cr/cre Cree; cs/ces/cze Czech; cu/chu Church Slavic; cv/chv Chuvash; cy/cym/wel
    Welsh; da/dan Danish; de/deu/ger German; dv/div Divehi; dz/dzo Dzongkha; ee/ewe Ewe; el/ell/gre Greek;
    en/eng English; eo/epo Esperanto; es/spa Spanish; et/est Estonian; eu/eus/baq Basque; fa/fas/per
    Persian; ff/ful Fula; fi/fin Finnish; fj/fij Fijian; fo/fao Faroese; fr/fra/fre French; fy/fry
    Frisian; ga/gle Irish; gd/gla Scottish Gaelic; gl/glg Galician; gn/grn Guarani; gu/guj Gujarati;
    gv/glv Manx; ha/hau Hausa; he/heb Hebrew; hi/hin Hindi; ho/hmo Hiri Motu; hr/hrv Croatian; ht/hat
    Haitian Creole; hu/hun Hungarian; hy/hye/arm Armenian; hz/her Herero; ia/ina Interlingua; id/ind
    Indonesian; ie/ile Interlingue; ig/ibo Igbo; ii/iii Sichuan Yi; ik/ipk Inupiaq; io/ido Ido; is/isl/ice
    Icelandic; it/ita Italian; iu/iku Inuktitut; ja/jpn Japanese; jv/jav Javanese; ka/kat/geo Georgian;
    kg/kon Kongo; ki/kik Kikuyu; kj/kua Kuanyama; kk/kaz Kazakh; kl/kal Kalaallisut; km/khm Khmer; kn/kan
    Kannada; ko/kor Korean; kr/kau Kanuri; ks/kas Kashmiri; ku/kur Kurdish; kv/kom Komi; kw/cor Cornish;
    ky/kir Kyrgyz; la/lat Latin; lb/ltz Luxembourgish; lg/lug Luganda; li/lim Limburgish; ln/lin Lingala;
    lo/lao Lao; lt/lit Lithuanian; lu/lub Luba-Katanga; lv/lav Latvian; mg/mlg Malagasy; mh/mah
    Marshallese; mi/mri/mao Māori; mk/mkd/mac Macedonian; ml/mal Malayalam; mn/mon Mongolian; mr/mar
    Marathi; ms/msa/may Malay; mt/mlt Maltese; my/mya/bur Burmese; na/nau Nauru; nb/nob Norwegian Bokmål;
    nd/nde North Ndebele; ne/nep Nepali; ng/ndo Ndonga; nl/nld/dut Dutch; nn/nno Norwegian Nynorsk; no/nor
    Norwegian; nr/nbl South Ndebele; nv/nav Navajo; ny/nya Nyanja; oc/oci Occitan; oj/oji Ojibwa; om/orm
    Oromo; or/ori Odia; os/oss Ossetic; pa/pan Punjabi; pi/pli Pali; pl/pol Polish; ps/pus Pashto; pt/por
    Portuguese; qu/que Quechua; rm/roh Romansh; rn/run Kirundi; ro/ron/rum Romanian; ru/rus Russian;
    rw/kin Kinyarwanda; sa/san Sanskrit; sc/srd Sardinian; sd/snd Sindhi; se/sme Northern Sami; sg/sag
    Sango; si/sin Sinhala; sk/slk/slo Slovak; sl/slv Slovenian; sm/smo Samoan; sn/sna Shona; so/som
    Somali; sq/sqi/alb Albanian; sr/srp Serbian; ss/ssw Swati; st/sot Southern Sotho; su/sun Sundanese;
    sv/swe Swedish; sw/swa Swahili; ta/tam Tamil; te/tel Telugu; tg/tgk Tajik; th/tha Thai; ti/tir
    Tigrinya; tk/tuk Turkmen; tl/tgl Tagalog; tn/tsn Tswana; to/ton Tongan; tr/tur Turkish; ts/tso Tsonga;
    tt/tat Tatar; tw/twi Twi; ty/tah Tahitian; ug/uig Uyghur; uk/ukr Ukrainian; ur/urd Urdu; uz/uzb Uzbek;
    ve/ven Venda; vi/vie Vietnamese; vo/vol Volapük; wa/wln Walloon; wo/wol Wolof; xh/xho Xhosa; yi/yid
    Yiddish; yo/yor Yoruba; za/zha Zhuang; zh/zho/chi Chinese; zu/zul Zulu; yue Cantonese; cmn Mandarin
    Chinese; fil Filipino; haw Hawaiian; gsw Swiss German; ast Asturian; hsb Upper Sorbian; dsb Lower
    Sorbian; nds Low German; ceb Cebuano; mai Maithili; bho Bhojpuri; scn Sicilian; szl Silesian; smn
    Inari Sami; sms Skolt Sami; sma Southern Sami; smj Lule Sami; ltg Latgalian; vro Võro; nah Nahuatl;
    chr Cherokee; mni Manipuri; sat Santali; kok Konkani; tok Toki Pona
"""
"""``tag/ISO 639-2/its bibliographic form  name``; what equals the one before it is left out."""

_REGIONS = """
    AD Andorra; AE United Arab Emirates; AF Afghanistan; AG Antigua and Barbuda; AI Anguilla; AL Albania;
    AM Armenia; AO Angola; AQ Antarctica; AR Argentina; AS American Samoa; AT Austria; AU Australia; AW
    Aruba; AX Åland Islands; AZ Azerbaijan; BA Bosnia and Herzegovina; BB Barbados; BD Bangladesh; BE
    Belgium; BF Burkina Faso; BG Bulgaria; BH Bahrain; BI Burundi; BJ Benin; BL St. Barthélemy; BM
    Bermuda; BN Brunei; BO Bolivia; BQ Caribbean Netherlands; BR Brazil; BS Bahamas; BT Bhutan; BW
    Botswana; BY Belarus; BZ Belize; CA Canada; CC Cocos Islands; CD Congo (Kinshasa); CF Central African
    Republic; CG Congo (Brazzaville); CH Switzerland; CI Côte d'Ivoire; CK Cook Islands; CL Chile; CM
    Cameroon; CN China; CO Colombia; CR Costa Rica; CU Cuba; CV Cape Verde; CW Curaçao; CX Christmas
    Island; CY Cyprus; CZ Czechia; DE Germany; DJ Djibouti; DK Denmark; DM Dominica; DO Dominican
    Republic; DZ Algeria; EC Ecuador; EE Estonia; EG Egypt; EH Western Sahara; ER Eritrea; ES Spain; ET
    Ethiopia; FI Finland; FJ Fiji; FK Falkland Islands; FM Micronesia; FO Faroe Islands; FR France; GA
    Gabon; GB United Kingdom; GD Grenada; GE Georgia; GF French Guiana; GG Guernsey; GH Ghana; GI
    Gibraltar; GL Greenland; GM Gambia; GN Guinea; GP Guadeloupe; GQ Equatorial Guinea; GR Greece; GT
    Guatemala; GU Guam; GW Guinea-Bissau; GY Guyana; HK Hong Kong; HN Honduras; HR Croatia; HT Haiti; HU
    Hungary; ID Indonesia; IE Ireland; IL Israel; IM Isle of Man; IN India; IQ Iraq; IR Iran; IS Iceland;
    IT Italy; JE Jersey; JM Jamaica; JO Jordan; JP Japan; KE Kenya; KG Kyrgyzstan; KH Cambodia; KI
    Kiribati; KM Comoros; KN St. Kitts and Nevis; KP North Korea; KR South Korea; KW Kuwait; KY Cayman
    Islands; KZ Kazakhstan; LA Laos; LB Lebanon; LC St. Lucia; LI Liechtenstein; LK Sri Lanka; LR Liberia;
    LS Lesotho; LT Lithuania; LU Luxembourg; LV Latvia; LY Libya; MA Morocco; MC Monaco; MD Moldova; ME
    Montenegro; MF St. Martin; MG Madagascar; MH Marshall Islands; MK North Macedonia; ML Mali; MM
    Myanmar; MN Mongolia; MO Macao; MP Northern Mariana Islands; MQ Martinique; MR Mauritania; MS
    Montserrat; MT Malta; MU Mauritius; MV Maldives; MW Malawi; MX Mexico; MY Malaysia; MZ Mozambique; NA
    Namibia; NC New Caledonia; NE Niger; NF Norfolk Island; NG Nigeria; NI Nicaragua; NL Netherlands; NO
    Norway; NP Nepal; NR Nauru; NU Niue; NZ New Zealand; OM Oman; PA Panama; PE Peru; PF French Polynesia;
    PG Papua New Guinea; PH Philippines; PK Pakistan; PL Poland; PM St. Pierre and Miquelon; PN Pitcairn
    Islands; PR Puerto Rico; PS Palestinian Territories; PT Portugal; PW Palau; PY Paraguay; QA Qatar; RE
    Réunion; RO Romania; RS Serbia; RU Russia; RW Rwanda; SA Saudi Arabia; SB Solomon Islands; SC
    Seychelles; SD Sudan; SE Sweden; SG Singapore; SH St. Helena; SI Slovenia; SJ Svalbard and Jan Mayen;
    SK Slovakia; SL Sierra Leone; SM San Marino; SN Senegal; SO Somalia; SR Suriname; SS South Sudan; ST
    São Tomé and Príncipe; SV El Salvador; SX Sint Maarten; SY Syria; SZ Eswatini; TC Turks and Caicos
    Islands; TD Chad; TG Togo; TH Thailand; TJ Tajikistan; TK Tokelau; TL Timor-Leste; TM Turkmenistan; TN
    Tunisia; TO Tonga; TR Türkiye; TT Trinidad and Tobago; TV Tuvalu; TW Taiwan; TZ Tanzania; UA Ukraine;
    UG Uganda; US United States; UY Uruguay; UZ Uzbekistan; VA Vatican City; VC St. Vincent and the
    Grenadines; VE Venezuela; VG British Virgin Islands; VI U.S. Virgin Islands; VN Vietnam; VU Vanuatu;
    WF Wallis and Futuna; WS Samoa; XK Kosovo; YE Yemen; YT Mayotte; ZA South Africa; ZM Zambia; ZW
    Zimbabwe; 419 Latin America
"""

_SCRIPTS = """
    Latn Latin; Cyrl Cyrillic; Arab Arabic; Hebr Hebrew; Deva Devanagari; Hans Simplified; Hant Traditional;
    Grek Greek; Beng Bengali; Guru Gurmukhi; Mong Mongolian; Thai Thai; Armn Armenian; Geor Georgian;
    Jpan Japanese; Kore Korean; Hang Hangul; Cans Syllabics; Ethi Ethiopic; Tfng Tifinagh
"""

_TAG = re.compile(
    r"(?P<language>[a-z]{2,3})(?:-(?P<script>[a-z]{4}))?(?:-(?P<region>[a-z]{2}|\d{3}))?"
    r"(?P<variants>(?:-(?:[a-z\d]{5,8}|\d[a-z\d]{3}))*)(?P<extensions>(?:-[a-wyz\d](?:-[a-z\d]{2,8})+)*"
    r"(?:-x(?:-[a-z\d]{1,8})+)?)"
)

_OWN_NAMES: Mapping[str, str] = {
    "deutsch": "de", "français": "fr", "francais": "fr", "español": "es", "espanol": "es", "italiano": "it",
    "português": "pt", "portugues": "pt", "nederlands": "nl", "svenska": "sv", "norsk": "nb", "dansk": "da",
    "suomi": "fi", "polski": "pl", "čeština": "cs", "magyar": "hu", "türkçe": "tr", "русский": "ru",
    "українська": "uk", "ελληνικά": "el", "中文": "zh", "日本語": "ja", "한국어": "ko", "العربية": "ar",
    "עברית": "he", "हिन्दी": "hi", "ไทย": "th", "tiếng việt": "vi", "bahasa indonesia": "id", "català": "ca",
    "jp": "ja", "cn": "zh", "kr": "ko", "gr": "el", "dk": "da", "cz": "cs", "ua": "uk",
}  # fmt: skip
"""What people call their own language, and countries, for those who write these in place of a tag."""

_OTHER_REGIONS: Mapping[str, str] = {"UK": "GB", "EL": "GR", "SU": "RU", "YU": "RS", "AN": "CW"}
"""Codes that people write, or that were in use, and those of today."""


@dataclass(frozen=True, slots=True)
class Language:
    """A language as it is asked for. ``tag`` is in its usual letters, ``name`` is English.

    ``code`` is the language alone (``de``), ``script`` and ``region`` are empty where the tag has none.
    """

    tag: str
    name: str
    code: str
    script: str = ""
    region: str = ""

    @property
    def english(self) -> bool:
        """Whether it is English, of whatever region."""
        return self.code == "en"

    @property
    def alpha3(self) -> str:
        """ISO 639-2's terminological code, which MP4 files carry: ``de → deu``."""
        return _codes().get(self.code, (self.code, self.code))[0]

    @property
    def bibliographic(self) -> str:
        """ISO 639-2's bibliographic code, which Matroska files carry: ``de → ger``."""
        return _codes().get(self.code, (self.code, self.code))[1]


@cache
def language_of(tag: str) -> Language:
    """The language that ``tag`` means, whatever its letters' case.

    >>> language_of("DE_ch").tag, language_of("pt-BR").name, language_of("zh-Hans").name
    ('de-CH', 'Portuguese (Brazil)', 'Chinese (Simplified)')

    Raises UsageError for a tag that is none, or whose parts are not known, with the nearest that is.
    """
    match = _TAG.fullmatch(tag.strip().replace("_", "-").lower())
    if match is None or match["language"] not in languages():
        raise _unknown(tag)
    code, script, region = match["language"], (match["script"] or "").title(), (match["region"] or "").upper()
    regions, scripts = _table(_REGIONS), _table(_SCRIPTS)
    if region and region not in regions:
        today = _OTHER_REGIONS.get(region)
        raise UsageError(
            f"{tag!r} names the region {region}, which is not known.",
            f"Did you mean {code}-{today}?" if today else _name_hint(code),
        )
    if script and script not in scripts:
        near = difflib.get_close_matches(script, scripts, n=1)
        raise UsageError(
            f"{tag!r} names the script {script}, which is not known.",
            f"Did you mean {code}-{near[0]}?" if near else _name_hint(code),
        )
    apart = [names[part] for names, part in ((scripts, script), (regions, region)) if part]
    name = languages()[code] + (f" ({', '.join(apart)})" if apart else "")
    rest = f"{match['variants']}{match['extensions']}"
    plain = "-".join(part for part in (code, script, region) if part)
    return Language(f"{plain}{rest}", name, code, script, region)


def language_name(tag: str) -> str:
    """The English name of a language, or the tag itself where it is not known; for texts that are there."""
    try:
        return language_of(tag).name
    except UsageError:
        return tag


def language_named(word: str) -> str:
    """The short code of the language that a word in a file's name or a container means; empty where it means
    none.

    >>> language_named("ger"), language_named("pt-BR"), language_named("English"), language_named("deutsch")
    ('de', 'pt', 'en', 'de')
    """
    word = word.strip().lower()
    if word in _codes_by_word():
        return _codes_by_word()[word]
    try:
        return language_of(word).code
    except UsageError:
        base = re.split("[-_]", word)[0]
        return _codes_by_word().get(base, "") if len(base) == 3 and base != word else ""


@cache
def _codes_by_word() -> dict[str, str]:
    """Short code by each code of three letters and each name of a language, in small letters."""
    by_code = {code: short for short, codes in _codes().items() for code in codes}
    by_name = {name.lower(): short for short, name in languages().items()}
    return {**_OWN_NAMES, **by_name, **by_code}


def is_english(tag: str) -> bool:
    """Whether a tag, well formed or not, begins as English does; for texts that are there already."""
    return tag.lower().replace("_", "-").split("-")[0] == "en"


def is_same_language(tag: str, other_tag: str) -> bool:
    """Whether two tags mean the same language, in whatever region, and name no different scripts.

    >>> is_same_language("de", "de-CH"), is_same_language("de", "fr"), is_same_language("sr-Latn", "sr-Cyrl")
    (True, False, False)
    """
    tags = (tag.replace("_", "-").lower(), other_tag.replace("_", "-").lower())
    parts = [_TAG.fullmatch(tag) for tag in tags]
    if parts[0] is None or parts[1] is None:
        return tags[0] == tags[1]
    scripts = {part["script"] for part in parts if part is not None} - {None}
    return parts[0]["language"] == parts[1]["language"] and len(scripts) < 2


@cache
def languages() -> Mapping[str, str]:
    """All languages that are known, code → English name."""
    return {codes.split("/")[0]: name for codes, name in _table(_LANGUAGES).items()}


def _unknown(tag: str) -> UsageError:
    wanted_tag = tag.strip().lower()
    base = re.split("[-_ ]", wanted_tag)[0]
    by_code = {code: short for short, codes in _codes().items() for code in codes}
    by_name = {name.lower(): short for short, name in languages().items()}
    near = by_code.get(base) or by_name.get(wanted_tag) or by_name.get(base) or _OWN_NAMES.get(wanted_tag)
    if near is None and (matches := difflib.get_close_matches(wanted_tag, by_name, n=1, cutoff=0.75)):
        near = by_name[matches[0]]
    if near is None and (matches := difflib.get_close_matches(base, languages(), n=1)):
        near = matches[0]
    hint = f"Did you mean {near} ({languages()[near]})?" if near else "Tags look like de, pt-BR or zh-Hans."
    return UsageError(f"{tag!r} is no tag of a language.", hint)


def _name_hint(code: str) -> str:
    return f"Write {code} for {languages()[code]}, or a region by its two letters, as in de-CH."


@cache
def _codes() -> dict[str, tuple[str, str]]:
    """Short code → ISO 639-2's, terminological and bibliographic."""
    split = [codes.split("/") for codes in _table(_LANGUAGES)]
    return {parts[0]: (parts[min(1, len(parts) - 1)], parts[-1]) for parts in split}


@cache
def _table(text: str) -> dict[str, str]:
    rows = (row.strip().partition(" ") for row in " ".join(text.split()).split(";"))
    return {code: name.strip() for code, _, name in rows}
