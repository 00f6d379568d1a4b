"""Words by which a statement tells what is to be, and what has come of it. Lower case, uninflected."""

from __future__ import annotations

from slowwave.transforms.language.lexicon import word_map, words
from slowwave.transforms.observations.pairs.pair_words import MONTHS, RELATIVE_DAYS, SILENT, WEEKDAYS
from slowwave.transforms.observations.states.state_words import GENERIC_OBJECTS, SAME_ACTS

_ALWAYS = words(
    "plan intend hope wish aim aspire want dream consider prepare schedule promise seek anticipate contemplate propose "
    "book"
)
_WITH = {
    "think": "of about", "look": "forward to into for", "excit": "to for about", "stoke": "to for about",
    "thrill": "to for", "pump": "to for about", "eager": "to for", "keen": "to on", "ready": "to for",
    "interest": "in", "invite": "to for", "register": "for", "enrol": "in for", "enroll": "in for", "sign": "up",
    "try": "to", "expect": "to", "wait": "to for", "apply": "for to", "pick": "for", "select": "for",
    "choose": "for", "agree": "to", "need": "to", "decide": "to on", "determine": "to", "curious": "about",
    "train": "for", "save": "for up", "ask": "to", "search": "for", "hunt": "for", "shop": "for", "gear": "up",
    "about": "to", "practice": "for",
}  # fmt: skip
PLANNING = {**dict.fromkeys(_ALWAYS, frozenset[str]()), **{verb: words(after) for verb, after in _WITH.items()}}
"""Words that tell of what is to be: with what must follow them for it, if anything."""

AIMS = words("goal dream plan aim ambition hope intention wish priority mission")
"""Nouns of which "is to" tells what is to be."""
ARRANGING = words("organize arrange")
"""While they are under way, what they arrange is to be."""
NOUNS = words("books dreams hopes plans aims wishes")
"""Forms of them that are nouns unless the verb is looked for where they stand."""
PRESENT_ONLY = words("try expect need want hope look agree seek")
"""In the past they tell of what did not come about, or of how it was."""
OTHERS = words(
    "another other newest latest second third fourth fifth sixth seventh eighth ninth tenth different 2. 3. 4. 5. 6. 7."
)
"""They tell a thing from those before it."""
UPCOMING = words("upcoming future potential possible next soon scheduled planned prospective")
ALWAYS_UPCOMING = words("upcoming potential possible prospective")
SUBORDINATE = words(
    "after while since because which who where as when that before if so although though until than whose how what why "
    "despite without besides unlike except"
)
"""What follows tells of something else."""
BEGINNING = words("start begin continue keep resume")

HABITS = words(
    "enjoy love like prefer value appreciate believe recommend suggest mention encourage discuss describe feel "
    "express admire share show think say tell comment"
)
"""They tell of no act that comes to an end."""
EMPTY_VERBS = words("have do make take be go get give keep")
"""Too general for two acts to be one by them."""

ACTS = {
    **SAME_ACTS,
    **word_map("tour return come=visit gig concert=perform compete=play conduct hold=plan"),
    **word_map("secure land receive obtain earn sign find adopt=get propose=marry"),
}
"""Verbs that tell of one act, and its name."""

AT_ONCE = words(
    "visit attend get go play plan join finish complete release launch publish submit conclude win move graduate meet "
    "try ask marry sell open ship finalize accept become cancel postpone"
)
"""Acts that are done once they are told in the present: "attends a workshop"."""
TAKING_PART = words(
    "visit attend perform play go win run complete finish compete host hold organize throw celebrate pass give ace "
    "take plan have travel return participate"
)
"""What is done with a thing that takes place."""
GOING = words("visit travel explore head go stay be return")
TRYING = words("play watch read try see finish")
FINISHED = words("finish complete release launch publish submit conclude finalize graduate wrap accomplish")
CREATING = words(
    "work make restore write record plan prepare progress organize train stoke excit thrill be end meet read learn "
    "study paint knit draw film watch join start begin continue enrol enroll take"
)
"""What is done with a thing before it is finished."""
TAKING_IN = words("read watch study learn")
"""What is finished by another act than what is made."""
AGREEMENTS = words(
    "deal contract offer job position sponsorship endorsement internship role scholarship grant funding partnership "
    "agreement"
)
EVENTS = words(
    "trip visit vacation tour holiday retreat workshop conference concert performance gig show game match tournament "
    "competition race marathon course class festival party meeting wedding exhibition event session interview exam "
    "hike camp contest"
)
"""What takes place at a time."""
ROUTINE = words(
    "trip visit vacation tour holiday game concert festival show event party class match session gig meeting project"
)
"""There are many of them: two of one name are one only where more is the same."""
NO_PURPOSE = words("meet hear discuss update see")
"""What is told with them is not itself what is to be."""
PLACES = words("in at to")
TICKETS = words("ticket flight reservation")

SAYS_NOTHING = (
    SILENT
    | WEEKDAYS.keys()
    | MONTHS.keys()
    | RELATIVE_DAYS
    | GENERIC_OBJECTS
    | words(
        "new more other another different same favorite few lot great good amazing awesome big small recent year old "
        "first own people experience opportunity process idea skill work life live plan goal interest place event "
        "stuff future success together during all some back best better positive creative world passion love joy "
        "inspiration support friend family team"
    )
)
"""Words that do not say which thing is meant."""

KNOWN_VERBS = ACTS.keys() | AT_ONCE | TAKING_PART | FINISHED | HABITS | TRYING | GOING | BEGINNING | words("appreciate")
"""Verbs, whether other lists know them or not."""
