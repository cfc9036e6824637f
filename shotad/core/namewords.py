"""Word lists for names: titles, names that are words as well, words that begin sentences."""

from __future__ import annotations


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


NAME_TITLES = _listed(
    """
    mr mrs ms miss mx messrs dr doctor doc prof professor sir dame lady lord madam madame monsieur señor
    señora herr frau captain capt sergeant sgt lieutenant lt lieut colonel col corporal cpl private pvt
    major maj general gen commander cmdr admiral adm officer detective det inspector insp superintendent
    commissioner constable sheriff deputy marshal agent chief police senator sen president judge justice
    mayor governor secretary ambassador minister chancellor reverend rev father sister brother mother
    saint st nurse uncle aunt auntie grandma grandpa granny king queen prince princess duke duchess
    count countess baron baroness emperor master mister coach pastor rabbi bishop cardinal pope deacon
    dean special first second
    """
)
"""Words before a name, in small letters and without a full stop."""

HIS_TITLES = _listed("mr sir lord monsieur señor herr king prince duke count baron uncle grandpa master")
HER_TITLES = _listed(
    "mrs ms miss dame lady madam madame señora frau queen princess duchess countess baroness aunt auntie "
    "grandma granny"
)

PARTICLES = _listed("de da di du del della la le van von der den ten ter zu zur bin ibn al el y of the")
"""Words in small letters within names."""

WORD_NAMES = _listed(
    """
    black white orange brown green gray grey blue red scarlet rose rosie lily daisy violet ivy iris
    holly heather hazel ginger rosemary olive ruby pearl amber crystal jade hope faith grace joy charity
    patience prudence summer autumn april may june august dawn eve sunny stormy sky skye star snow
    winter frost rain storm cloud river rivers lake stone rock woods wood forest hill field fields bush
    branch bank banks bridge ford church cross bell ball page book pen price cash penny rich bond bill
    will mark art guy chase drew rob pat sue jack nick frank dean josh gene ray jay robin martin wren
    finch hawk sparrow swan drake fox wolf bear lamb bird bull buck young old long short small little
    large strong armstrong sharp swift wise savage strange best good goodman love moon sun day knight
    night king prince queen bishop pope abbott baker cook carter cooper mason miller porter potter
    taylor tanner turner walker weaver fisher hunter gardener shepherd butler page chandler marshall
    sterling gold silver diamond case power powers stark wells waters poole hall house homes parks park
    garden marsh heath dale glen moss reed thorn bloom flower flowers poppy christian angel destiny
    harmony melody cherry candy cookie honey major duke earl baron happy sandy dusty rusty misty buddy
    sonny junior ace chip flash spike tank trip colt dash fury gale grant hardy dusk midnight doll kitty
    bunny pepper sugar salt basil clove sage barney barker steel iron hammer
    """
)
"""Names that are words too; where one begins a sentence, its capital letter says nothing."""

STARTERS = _listed(
    """
    a an the and but or so yet nor as at by for from in into of off on onto out over to up with without
    about above across after against along alongside amid among around atop before behind below beneath
    beside besides between beyond despite down during except inside like near nearby next outside past
    since through throughout toward towards under underneath until upon via within while when whenever
    where wherever if because although though once unless both all each every either neither some any no
    not only even just still then now later soon again also finally suddenly meanwhile instead together
    elsewhere inside upstairs downstairs overhead ahead back away here there his her their its my your
    our this that these those another other two three four five six several many he she it they we you i
    who what which how seeing leaving
    """
)
"""Words that begin a sentence before somebody's name: ``Behind Smith``."""
