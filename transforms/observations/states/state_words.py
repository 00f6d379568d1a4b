"""Words by which a statement tells a state of its subject. Lower case, uninflected."""

from __future__ import annotations

from slowwave.transforms.language.lexicon import word_map, words
from slowwave.transforms.observations.pairs.pair_words import BINDERS

PASSED_OVER = words(
    "now currently already recently just still always really actually also finally officially successfully "
    "previously formerly nowadays today proudly happily usually often only even both all now quite very so then "
    "temporarily automatically fully completely together basically mainly mostly primarily generally here"
)
"""Adverbs that may stand anywhere: a state is the same without."""

BESIDE_NUMBERS = words("now currently already still existing")
"""A number in a sentence is the same without."""
DETERMINERS = words("a an the this that these those my our your his her their its some any new own very")
PRONOUNS = words(
    "he she it they this that these those there what who which one someone everyone everything something you him them"
)
"""They name nothing by themselves: what a statement about "it" is about is not known."""

STATUS = word_map(
    "enabled disabled on off active inactive paused running stopped=power "
    "open pending blocked ready closed merged released shipped done complete completed finished cancelled canceled "
    "planned underway unfinished incomplete scheduled=progress "
    "broken failing red down fixed passing green up working=health "
    "required mandatory optional=need public private=visibility supported unsupported deprecated=support "
    "single married engaged divorced widowed=marriage employed unemployed retired=work "
    "empty full=filling used unused=use clean dirty=cleanness allowed forbidden=permission"
)
"""States on one scale, and the scale: of two on one scale a thing is in one."""

ATTRIBUTES = words(
    "port version limit timeout default name branch url address color colour language database size budget deadline "
    "price owner lead leader manager boss status state job role favorite password threshold retention region host "
    "schedule location email phone framework runtime provider engine backend frontend count number rate coverage "
    "level priority mode theme format model license quota capacity interval frequency date due target title rank "
    "salary weight height age temperature currency plan tier mascot captain teacher coach roommate partner husband "
    "wife girlfriend boyfriend score record maximum minimum max min length width depth interpreter compiler editor"
)
"""Nouns that have one value at a time: "the port is 8080"."""

PLACED = {
    "live": ("in", "at", "with", "near"), "reside": ("in", "at"), "work": ("at", "for", "as"),
    "host": ("on", "in", "at"),
    "base": ("in", "on"), "locate": ("in", "at"), "store": ("in", "on", "at"), "deploy": ("to", "on"),
    "write": ("in",), "own": ("by",), "assign": ("to",), "set": ("to",), "run": ("on", "in", "at"),
    "report": ("to",), "point": ("to", "at"), "belong": ("to",), "default": ("to",), "listen": ("on",),
    "expire": ("after", "in"), "manage": ("by", "with"), "lead": ("by",), "maintain": ("by",), "cap": ("at", "to"),
    "limit": ("to",), "schedule": ("for", "on", "at"), "study": ("at",),
    "stay": ("in", "at", "with"),
}  # fmt: skip
"""Verbs that, with one of these prepositions after them, take one value at a time."""

PERSONS = words(
    "i we user users team client customer owner developer agent assistant and the his her their my our partner wife "
    "husband girlfriend boyfriend friend friends family siblings sister brother parents mother father colleagues "
    "company"
)
"""They, and names, do what the verb after them says."""

GENERIC_LABELS = words(
    "note notes step phase result results total impact effort estimate line lines file files issue task item example "
    "current latest last next new time update updated created duration progress overall section part day week sprint "
    "commit commits push completion completed value values input output test testing tests"
)
"""Labels that do not say what they are the value of."""

AUXILIARIES = words("is are am was were has have had will do does did would can could may might should must")
NOW = words("now currently nowadays today")
OF_PEOPLE = words("live stay")
SURE_VERBS = frozenset(
    (*PLACED, *words("use prefer want need own support require accept allow return reject emit send contain provide"))
)
"""Verbs whose third person is hardly ever a noun."""
IRREGULAR_PAST = word_map(
    "won=win found=find felt=feel left=leave lost=lose fell=fall grew=grow led=lead sold=sell swam=swim rode=ride "
    "flew=fly became=become saw=see sang=sing quit=quit wore=wear fought=fight drank=drink slept=sleep sat=sit "
    "stood=stand thought=think heard=hear spoke=speak hung=hang stuck=stick fed=feed dealt=deal dug=dig lent=lend"
)
"""Past forms that the table of inflections does not know."""
PHRASE_ENDS = (BINDERS - {"of"}) | words(
    "and or but because which that who where when while so at as then about every per he she they i we it similar "
    "based inspired yesterday tomorrow tonight again last next himself herself themselves myself"
)
"""Where the name of a thing ends."""
