"""Words that keep two statements apart, and words that say nothing about what is stated. Lower case, uninflected."""

from __future__ import annotations

from slowwave.transforms.language.lexicon import word_map, words

SILENT = words(
    "a an the this that these those there it its be do have get i me my we us our you your user users please just "
    "also very really quite so too and or but of to in on at for with by as into onto about from via per always one "
    "is are am was were been being has had does did s t re ve ll d m which own while "
    "their them they himself herself themselves itself myself then here ever any"
)
"""Dropped: they carry no fact of their own. Prepositions among them still tell roles apart (`BINDERS`)."""

BINDERS = words("from to over than before after into onto for by on in with without under above below between until")
"""What follows one of these plays a part that nothing else plays: "from staging to production"."""

NEGATIONS = word_map(
    "not no never nor neither none nobody nothing nowhere without cannot non cant wont dont doesnt didnt isnt arent "
    "wasnt werent shouldnt mustnt wouldnt couldnt hasnt havent hadnt avoid stop refuse lack forbid prohibit ban "
    "reject decline quit cease unable=not"
)

OPPOSITES = word_map(
    "disable deactivate inactive=active enable activate=active off=on deny block disallow=allow permit=allow "
    "false=true dislike hate detest=like love=like lose=win pass succeed success=pass fail failure fall drop=rise "
    "increase raise grow=rise decrease reduce shrink lower=rise exclude omit=include include=include remove "
    "uninstall=add install=add optional=required mandatory=required invalid=valid unsafe dangerous insecure=safe "
    "secure=safe private=public closed close=open slow=fast quick=fast bad worse=good better=good wrong "
    "incorrect=right correct=right asynchronous=synchronous old=new minimum least=maximum most=maximum last=first "
    "small short narrow low=big large big long wide high tall=big absent missing=present late=early "
    "weak=strong cheap=expensive unlock=lock down=up reverse backward=forward odd=even dark=light "
    "leave depart=arrive sell=buy empty=full dead=alive guilty=innocent deprecate=support"
)
"""Words on one scale, and the scale's name. Two that share a scale and are not one word contradict each other."""

SCALES = frozenset(OPPOSITES.values())

CONTRASTS = word_map(
    "frontend backend=end client server=side staging production prod dev development=stage read write=access "
    "input output=flow source target=direction upstream downstream=stream parent child=kin primary secondary=rank "
    "local remote=place man woman boy girl=sex"
)
"""Words of like use that name different things: put for each other they make another statement, if no opposite one."""

QUALIFIERS = word_map(
    "only=only until till=until unless=unless except=except if=if when whenever=when before=before after=after "
    "over=over under=under above=above below=below most=most some=some few=few many several=many all every each=all "
    "sometimes=sometimes usually often mostly typically=usually rarely seldom hardly=rarely maybe perhaps possibly "
    "may might could can=can will would shall=will must should need ought=must more=more less=less than=than "
    "he him his=he she her hers=she first=first last final=last next=next up=up down=down out=out off=off "
    "why=why how=how what=what "
    "where=where who whom whose=who because since=because almost nearly=almost both=both half=half again=again "
    "same=same other another=other"
)
"""They say when, how much, how sure or who: a statement with one is another than the same without."""

WEEKDAYS = word_map(
    "monday mon=monday tuesday tue=tuesday wednesday wed=wednesday thursday thu=thursday friday fri=friday "
    "saturday=saturday sunday=sunday"
)
MONTHS = word_map(
    "january jan=january february feb=february march=march april apr=april may=may june jun=june july jul=july "
    "august aug=august september sept sep=september october oct=october november nov=november december dec=december"
)
RELATIVE_DAYS = words(
    "yesterday today tomorrow tonight morning afternoon evening noon midnight week month year weekend ago daily weekly "
    "monthly yearly hourly spring summer autumn winter"
)
RECURRING = words("daily weekly monthly yearly hourly")
"""Of the relative days those that say how often, and not when."""

ONLY_CAPITALISED = words("mon tue wed thu fri jan feb march apr may jun jul aug sep sept oct nov dec")
"""Names of days and months that are other words, or none, in lower case."""

UNSTRESSED = words("a an the be been is are am do does did have to you ever any really just even yet")
"""Skipped between a negation and what it negates."""

RETRACTIONS = (
    "forget that", "forget about", "no longer", "ignore the", "disregard", "scratch that", "never mind", "retract",
    "is not true", "is wrong", "was wrong", "not the case", "delete the memory", "remove the memory", "any more",
    "anymore",
)  # fmt: skip
"""Phrases by which a statement takes another back."""

RETRACTING = words("forget disregard retract ignore longer anymore wrong true case mind scratch memory")
"""Words of such phrases, which say nothing of what is taken back."""

MULTIPLES = word_map("hundred=100 thousand=1000 million=1000000 billion=1000000000")
ORDINALS = word_map(
    "first=1. second=2. third=3. fourth=4. fifth=5. sixth=6. seventh=7. eighth=8. ninth=9. tenth=10. twice double=2 "
    "triple=3 dozen=12 once=1"
)
OPPOSING_PREFIXES = ("un", "dis", "in", "im", "ir", "non", "de", "anti")

STANDING = words(
    "always never prefer should must use avoid please ensure require follow rule convention policy guideline "
    "want like dislike favor favour keep make remember"
)
"""Words of rules and preferences."""

STATES = words("live work use run prefer be stay sit host deploy")
"""Verbs that hold of one thing at a time often enough for "now uses X" to replace "uses Y"."""

PAST_AUXILIARIES = words("was were had did")

PAST_FORMS = words(
    "won met felt left lost fell grew led sat slept sold stood thought wore spoke fought flew heard rode rose sang "
    "shot swam visited finished bought"
)
"""Past forms that the table of inflections does not know."""

GENERIC = words("use live work run prefer want need go like keep make take team project")
"""Too general to tell what a statement is about."""

NUMBERED = words(
    "issue pr pullrequest ticket bug step chapter room session day sprint phase task item section page line case "
    "part level week milestone round commit story episode season book figure table question rule"
)
"""What a number after it names, rather than measures."""
