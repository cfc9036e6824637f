"""What verbs want after them: a form in -ing, a place, a deed, anything at all."""

from __future__ import annotations

from shotad.script.english.smallwords import UNFINISHED, listed
from shotad.script.english.verbs import forms

TAKES_ING = forms(
    listed(
        "avoid be begin catch come continue find finish get go have hear help keep knock leave resume risk "
        "send set spend start stop try"
    )
)
"""Verbs that are not whole without the form in -ing after them."""
RESULTS = listed("causing revealing allowing making letting forcing sending leaving showing")
"""Participles that may be said of the whole clause before them; they stay with it."""
SEEING = forms(listed("see watch hear let make help feel"))
"""An infinitive without "to" may follow: ``They watch him run``."""
NEEDS_PLACE = listed(
    """
    aim allow attach balance bang bring bury carry cast catch chuck cover cradle dip direct drag drape draw
    drive drop dump fasten fend fill fix fling flick force get give guide hand hang have help hold hurl jab
    keep knock lash launch lay lead lean leave lift line load lob lock lower make mount move offer pass pat
    perch pin place plant plunge point poke pour press prop pull push put raise ram replace rest reveal
    roll rub run send set share shove show sink slam slide slip smash splash spray spread stab steer
    stick strap stuff surround swing take tap throw thrust tie tip toss trap tuck turn urge use wedge wrap
    """
)
"""Verbs whose object goes somewhere: what stands after it is part of what is done."""
PUTS_SOMEWHERE = NEEDS_PLACE | listed(
    """
    back bat blast bounce bundle clap coax connect crack crowd dangle dunk ease edge escort haul herd
    hitch hoist hook hustle impale inject insert jam jerk jolt link lodge lug lull lure nestle nudge pack
    peel pile plaster plop plug position propel rake rip scoop scrape screw shift shovel sling smear
    spatter spill spin spit splatter sprinkle squirt stack station sweep thread touch train trundle tug
    unload usher vomit waft wheel whip whisk wind wrench yank zip
    """
)
"""The same, with verbs whose base form is a noun as well: ``a hook``, ``the back``."""
WHOLE_WITH_ITSELF = listed(
    """
    admire amuse bare behead brace calm clean compose console drown dry enjoy examine excuse fan free hang
    hide hurt hug introduce kill pinch poison scratch shave shield shoot steady stop strangle stretch
    undress warm wash
    """
)
"""Verbs that are whole with ``himself``; ``plugs itself | into the wall`` is not."""
NEEDS_DEED = listed(
    """
    allow appear ask attempt be beckon begin bring cause come continue direct fail force gesture get go
    happen have help hurry invite lead leave make manage motion need offer order prepare pretend put
    refuse rush seem send set signal start struggle take tell threaten try urge use wait want
    """
)
"""Verbs that are not whole without "to" and a deed."""
_NEEDS_MORE = listed(
    "be become begin bring continue do get give hand have keep lay let make place put remain seem send set "
    "start try use wear"
)
NOT_LAST = (
    UNFINISHED
    | forms(_NEEDS_MORE)
    | listed(
        """
        about all among another atop attention be been before beneath beside between behind both during each
        either even every he's hold if it's just leave like looking near nor not only she's sight so than
        that then these this those three too toward towards turning two until upon very via way when where
        which who whose without against more being
        """
    )
)
"""No sentence ends in one of these: something is missing after it."""
