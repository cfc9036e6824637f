"""English words for `shotad.describe.clauses`, gathered by hand and tried on human AD."""

from __future__ import annotations

import re


def listed(words: str) -> frozenset[str]:
    """The words of a list as a set."""
    return frozenset(words.split())


def _third_person(verb: str) -> str:
    """``walk → walks``, ``reach → reaches``, ``carry → carries``."""
    if re.search(r"(?:s|x|z|ch|sh|o)$", verb):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if re.search(r"[^aeiou]y$", verb) else f"{verb}s"


VERBS = listed(
    "bake bathe bleat brandish carve chant chisel comb coil collide crack crunch dab dine drape dribble "
    "drum dust fan fetch fill fish fry fumble grill hack haul hammer honk howl hum hunt iron juggle knit "
    "lather lick mend merge milk mow nibble oil organise parry peddle perform plead plough prance pray "
    "preen prune raid rake ransack rinse rob scrape sew shovel sketch skim slit sow spar stack steam "
    "stitch strum tackle tango taxi thread toast track tread trim unload unpack unscrew usher vault veer "
    "wade waltz weave weld whack whittle wriggle accept adjust admire aim allow answer appear applaud "
    "approach arrive ask attack avoid back balance bang bash batter beam beat beckon become begin bend "
    "bite blast bleed blink block blow board bolt bounce bow brace break breathe bring brush bump burn "
    "burst bury button buy call caress carry cast catch charge chase check cheer chew choke chop chuck "
    "circle clamber clap clasp clean clench climb cling close clutch collapse collect come continue cook "
    "cough cover cower cradle crane crash crawl creep cringe cross crouch crush cry curl cut dance dangle "
    "dart dash deflect descend dig dip disappear dive do dodge drag drain draw dress drift drink drive "
    "drop duck dump eat edge elbow embrace emerge empty enter escape escort examine exchange exhale exit "
    "explode extend eye face fade fall fasten feed feel fiddle fight find finish fire fix flail flash "
    "flee flick fling flip float fly fold follow force freeze frown gallop gape gasp gather gaze gesture "
    "get give glance glare glide gnaw go grab grasp greet grimace grin grip groan grow guide gulp hand "
    "hang have head heave help hesitate hide hit hobble hoist hold hop hover hug hunch hurl hurry hurtle "
    "inhale inspect jab jerk jog join jolt jump keep kick kill kiss knee kneel knock land lash laugh "
    "launch lay lead lean leap leave lie lift light limp line listen load lob lock look loom lose lower "
    "lunge lurch make march massage measure meet melt mount mouth move munch narrow nestle nod notice "
    "nudge nuzzle observe offer open pace pack paint pant park part pass pat pause paw pay peek peel peer "
    "perch pick pin pinch pile place plant play plop pluck plummet plunge pocket point poke polish pop "
    "pose pounce pound pour press prowl pry pull pummel pump punch push put race raise ram reach read "
    "rear recoil reel reload remain remove replace rest retreat return reveal ride ring rip rise roam "
    "roar roll rotate row rub rummage run rush sag sail salute saunter scamper scan scatter scoop scowl "
    "scramble scratch scream scribble scrub scurry scuttle see seize send set shake share shatter shave "
    "shiver shoot shout shove show shrink shrug shuffle shut sidle sigh sign sink sip sit skid skip slam "
    "slap slash sleep slice slide sling slink slip slither slouch slump smack smash smear smell smile "
    "smirk smoke smooth snap snatch sneak sneer sniff sob soar spin spit splash split spot spray spread "
    "spring sprint squat squeeze squint stab stagger stalk stand stare start startle steal steer step "
    "stick stiffen stir stomp stoop stop storm straddle straighten strap stretch stride strike stroke "
    "stroll struggle strut study stuff stumble suck surround survey swallow sway sweep swerve swig swim "
    "swing switch swoop take tap taste taunt tear tend throw thrash throttle thrust thump tickle tie "
    "tighten tilt tip toss touch tow trail travel tremble trip trot trudge try tuck tug tumble turn twirl "
    "twist type undo undress unfold unfurl unlock unroll untie unwrap urge use vanish vomit wait wake "
    "walk wander wash watch wave wear weep wheel whip whirl whisper whistle whizz wield wince wind wink "
    "wipe withdraw work wrap wrench wrestle write yank yawn yell zip zoom"
)
"""Verbs of AD, in their base form."""

AUXILIARY = listed("is are has have does do isn't aren't doesn't don't hasn't haven't can cannot can't must")
THIRD = frozenset(_third_person(verb) for verb in VERBS) | AUXILIARY
ALSO_NOUNS = listed(
    "hands eyes faces heads backs lights shoulders fingers arms rings lines parts points knees elbows "
    "papers signs steps stairs waves cuts clothes leaves drinks shows spots rows rocks boards guards "
    "shots pockets drops cries screams shouts laughs plants beams blasts trails packs loads covers bolts "
    "pins straps strikes blows paints calls checks edges tears ties works flashes watches brushes bows "
    "ducks wheels turns looks paws zips mouths stares tips snaps prints punches kicks flips charges fires "
    "smokes"
)
"""Forms in -s that are nouns as often; they count as verbs only before an object."""
AFTER_A_VERB = listed(
    "the a an his her him them it their its at to up down out off over away back into onto through in on "
    "around from toward towards behind across past along by under forward inside outside himself herself "
    "themselves aside open shut as and while"
)
"""What may follow a verb; after a noun of the same form it is rarer."""
CLEAR_OBJECT = listed("the a an his her him them it their its himself herself themselves")
"""What can only follow a verb."""

PREPOSITIONS = listed(
    "in on at to from with without into onto over under through across along behind beside near past "
    "toward towards against among amid between around beneath below above inside outside by for during "
    "after before of off down up within upon beyond atop alongside underneath via"
)
SUBORDINATE = listed("as while when after before until once if because although though since where whenever")
ADVERBS_FIRST = listed(
    "then now later outside inside elsewhere meanwhile nearby upstairs downstairs finally suddenly next "
    "again still instead overhead below above afterwards moments seconds minutes hours days soon just"
)
"""Words that stand before a comma and only say when or where."""
DETERMINERS = listed(
    "the a an his her their its this that these those one two three four five six several both each every "
    "some another other others more many few all my no"
)
MANY = listed("they both others people men women children police two three four several some")
"""Subjects in the plural without an ending in -s."""
LINKS = listed("and but or so then now")
"""Words before a sentence that do not belong to its subject."""
FLOATING = listed("both all each")
"""Words that stand between a subject and its verb."""
SHORT_SUBJECT = 4
NOMINATIVE = listed("he she they it")
NOT_LAST = listed(
    "of to with at from for into onto and or but as the a an his their its that which who whose is are "
    "has have does do very so more than both either between among like against toward towards upon during "
    "without beneath beside near behind be being been not every each another this these those two three "
    "seem seems becomes remains while before until when where then if nor way attention hold sight make "
    "makes keep keeps begin begins start starts continue continues try tries gets put puts place places "
    "give gives hand hands let lets send sends set sets leave bring brings lay lays use uses wears wear "
    "turning looking it's he's she's atop via even only too just about all"
)
"""No sentence ends in one of these: something is missing after it."""
ADJECTIVES = listed(
    "big small large little old young new tall short long high low bright black white red green blue "
    "yellow brown grey gray pink purple golden hot warm heavy thick thin wide narrow deep empty full "
    "wooden dirty clean wet dry soft hard rough smooth sharp round fat slim nearby broken huge tiny giant "
    "massive enormous other first second third last next same different single double rear left right "
    "upper lower main bare bloody muddy dusty rusty fellow late early own blonde bald bearded male female "
    "armed wounded injured dead local whole entire several various many few"
)
ADJECTIVE_ENDINGS = re.compile(r"(?:ous|ful|less|ish|ive|[a-z]-[a-z]+ed|ic)$")
NOUNS_IN_ING = listed(
    "building ceiling king ring string wing thing something anything nothing everything evening morning "
    "wedding clothing railing living dining swimming being spring sling sibling earring briefing housing "
    "lining painting drawing clearing crossing opening landing meeting gathering king's bring sing swing "
    "fling during bedding parking sterling viking lightning pudding stocking offering"
)
"""Nouns that look like participles."""
TAKES_ING = listed(
    "keep keeps start starts begin begins stop stops continue continues go goes come comes try tries "
    "avoid avoids finish finishes resume resumes send sends leave leaves catch catches find finds get "
    "gets set sets have has knock knocks is are risk risks spend spends hear hears"
)
"""Verbs that are not whole without the form in -ing after them."""
NEEDS_PLACE = listed(
    "put place set lay throw toss drop hang push pull stick shove press slam thrust lead guide bring take "
    "send give hand offer turn make catch get pass drag stuff tuck slide lower raise lift draw help pour "
    "lean plant fling hurl slip carry force keep leave have do pin tie strap wrap drive load cast direct "
    "attach show jab point aim fix rest run spread steer tip dump move knock flick use fasten splash rub "
    "tap bang dip hold ram bury roll lob plunge sink stab swing mount urge spray share reveal launch lash "
    "poke pat prop allow fill replace cover surround line trap smash drape balance cradle perch lock "
    "wedge chuck"
)
"""Verbs whose object goes somewhere: what stands after it is part of what is done."""

SAFE_PREPOSITIONS = listed(
    "in on at from into onto through across along behind beside near past toward towards against among "
    "amid around beneath under inside outside over with after to down up off above below"
)
BEFORE_A_NOUN = PREPOSITIONS | DETERMINERS | ADJECTIVES | {"and", "or"}
"""After one of these stands no verb."""
OTHER_CLAUSES = listed("and to that who as is are for")
"""Where one of these stands between, what follows may belong to another clause."""
NEEDS_DEED = listed(
    "bring set put get cause force allow help send urge use leave make take lead want ask tell order "
    "begin start continue try seem appear manage attempt need prepare pretend fail beckon is are have has "
    "signal gesture motion come go refuse struggle threaten offer happen hurry rush wait direct invite"
)
"""Verbs that are not whole without "to" and a deed."""
WAYS = listed(
    "at away around back up down to outside inside off out over toward towards for across into onto upstairs"
)
"""Ways and places that follow a verb."""
