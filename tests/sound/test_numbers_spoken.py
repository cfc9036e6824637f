"""Numbers as lines of AD have them, in six languages, as a voice gets them.

Each was read by eye: where the grammar of the sentence cannot be known, the digit is left to the voice.
"""

from __future__ import annotations

import pytest

from shotad.sound.pronunciation import spoken_text

SPOKEN = {
    "de": [
        ("Mit 1 Koffer steigt sie aus.", "Mit einem Koffer steigt sie aus."),
        ("Er hat 1 Koffer und 1 Tasche.", "Er hat einen Koffer und eine Tasche."),
        ("Da hat 1 Koffer Platz. In 1 Kiste liegt Stroh.", "Da hat 1 Koffer Platz. In 1 Kiste liegt Stroh."),
        ("Sie trägt 1 Hut und kauft 1 Brot.", "Sie trägt einen Hut und kauft ein Brot."),
        ("Vor ihm liegt 1 Brief.", "Vor ihm liegt ein Brief."),
        ("Er bleibt 1 Tag. Sie kommt 1 Schritt näher.", "Er bleibt 1 Tag. Sie kommt 1 Schritt näher."),
        ("In 1 Minute beginnt das Spiel.", "In einer Minute beginnt das Spiel."),
        ("Er trinkt ½ Liter Milch, nach ½ Stunde ½ Glas.", "Er trinkt einen halben Liter Milch, nach einer halben Stunde ein halbes Glas."),
        ("Nach 10:45 Minuten, um 10:45 Uhr, nach 1:30 Stunden", "Nach zehn Minuten und fünfundvierzig Sekunden, um zehn Uhr fünfundvierzig, nach einer Stunde und dreißig Minuten"),
        ("Die Stoppuhr zeigt 9:58 Sekunden, dann 0:05 Minuten.", "Die Stoppuhr zeigt neun achtundfünfzig Sekunden, dann fünf Sekunden."),
        ("Nach 1 Stunde geht er, für 1 € kauft er ein Los.", "Nach einer Stunde geht er, für einen Euro kauft er ein Los."),
        ("Um 1 Uhr ist der Akku bei 1 %.", "Um ein Uhr ist der Akku bei einem Prozent."),
        ("Nach 1½ Stunden, 2½ km weiter.", "Nach eineinhalb Stunden, zweieinhalb Kilometer weiter."),
        ("Der Hof von König Ludwig XIV. ist leer.", "Der Hof von König Ludwig dem Vierzehnten ist leer."),
        ("Für Karl V. malt Tizian.", "Für Karl den Fünften malt Tizian."),
        ("Ein Brief von Elisabeth II. liegt da.", "Ein Brief von Elisabeth der Zweiten liegt da."),
        ("Ludwig XIV. Er lächelt.", "Ludwig der Vierzehnte. Er lächelt."),
        ("Ein Schloss, 18. Jahrhundert.", "Ein Schloss, achtzehntes Jahrhundert."),
        ("Das Spiel endet 2:1, um 20:15 Uhr.", "Das Spiel endet zwei zu eins, um zwanzig Uhr fünfzehn."),
        ("Ein 8-jähriger Junge, ein 20-Euro-Schein.", "Ein achtjähriger Junge, ein zwanzig-Euro-Schein."),
        ("Der Zähler: 00:01:10.", "Der Zähler: null, eins, zehn."),
        ("4x100 Meter", "vier mal einhundert Meter"),
        ("In Zimmer 1 Anna.", "In Zimmer eins Anna."),
    ],
    "fr": [
        ("1 valise, 1 heure, 1 clé, 1 sac", "une valise, une heure, une clé, un sac"),
        ("Elle porte 1 gouttelle.", "Elle porte une gouttelle."),
        ("Il casse 1 tige.", "Il casse 1 tige."),
        ("½ litre, ½ heure, 1 part", "un demi-litre, une demi-heure, une part"),
        ("Après 10:45 minutes, à 10:45", "Après dix minutes et quarante-cinq secondes, à dix heures quarante-cinq"),
        ("1½ heure, 2½ m, 2½ h", "une heure et demie, deux mètres et demi, deux heures et demie"),
        ("81 femmes, 21 rue de Rivoli", "quatre-vingt-une femmes, vingt et un rue de Rivoli"),
        ("1 000 000 €, le score est 3:0", "un million d'euros, le score est trois à zéro"),
    ],
    "es": [
        ("La casa número 1 arde; en la habitación 101 hay luz.", "La casa número uno arde; en la habitación ciento uno hay luz."),
        ("La II Guerra Mundial, 1½ horas", "La segunda Guerra Mundial, una hora y media"),
        ("1 agua, 1.000.000 €", "un agua, un millón de euros"),
        ("½ litro, ½ hora, 101 dálmatas", "medio litro, media hora, ciento un dálmatas"),
        ("Tras 1:30 minutos", "Tras un minuto y treinta segundos"),
    ],
    "it": [
        ("1 euro, 1 ora, 1 studente, 1 valigia, 1 uomo", "un euro, un'ora, uno studente, una valigia, un uomo"),
        ("Sale al 3° piano e gira di 90°.", "Sale al terzo piano e gira di novanta gradi."),
        ("Il 1° maggio, l'8 marzo, gli anni '20", "Il primo maggio, l'otto marzo, gli anni venti"),
        ("Abiti del XIX secolo", "Abiti del diciannovesimo secolo"),
        ("Vittorio Emanuele II, alle 1:00", "Vittorio Emanuele secondo, alle una in punto"),
        ("Dopo 1½ ore, 2½ metri", "Dopo un'ora e mezza, due metri e mezzo"),
        ("½ litro, ½ ora", "mezzo litro, mezza ora"),
        ("Il timer: 3:00 minuti.", "Il timer: tre minuti."),
    ],
    "pt": [
        ("22 mulheres, 2 homens, 200 pessoas", "vinte e duas mulheres, dois homens, duzentas pessoas"),
        ("No século XIX, D. Pedro II", "No século dezenove, dom Pedro segundo"),
        ("Às 13h01, a 120 km/h, R$ 3,50", "Às treze e um, a cento e vinte quilômetros por hora, três reais cinquenta"),
        ("Ela sobe ao 2.º andar. A 1ª fila", "Ela sobe ao segundo andar. A primeira fila"),
        ("1½ horas, -5 °C, 50%", "uma hora e meia, menos cinco graus Celsius, cinquenta por cento"),
        ("½ litro, ½ hora", "meio litro, meia hora"),
        ("Após 10:45 minutos, 101 dálmatas", "Após dez minutos e quarenta e cinco segundos, cento e um dálmatas"),
    ],
    "pt-PT": [("No século XIX", "No século dezanove")],
    "en": [
        ("After 1½ hours, 2¼ miles on.", "After one and a half hours, two and a quarter miles on."),
        ("Platform 9 3/4", "Platform nine and three quarters"),
        ("She cuts 1/2 an apple and drinks ½ a pint.", "She cuts half an apple and drinks half a pint."),
        ("In 1:30 minutes, at 1:30", "In one minute and thirty seconds, at one thirty"),
        ("An 8-year-old boy; the score is 3:0.", "An eight-year-old boy; the score is three to zero."),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("language", "written", "spoken"),
    [(language, written, spoken) for language, pairs in SPOKEN.items() for written, spoken in pairs],
)
def test_a_number_is_spoken_as_its_language_says_it(language: str, written: str, spoken: str) -> None:
    assert spoken_text(written, language) == spoken
