"""Words the reading of strategies knows: the closed classes of English, and words of one meaning in this trade.

All lower case and uninflected. Lists are short on purpose: a word that is missing costs a group, a word that is wrong
merges two strategies.
"""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def word_map(text: str) -> dict[str, str]:
    """`a b=c d=e` as {a: c, b: c, d: e}."""
    found: dict[str, str] = {}
    waiting: list[str] = []
    for part in text.split():
        word, _, target = part.partition("=")
        waiting.append(word)
        if target:
            found |= dict.fromkeys(waiting, target)
            waiting = []
    return found


ARTICLES = words("a an the")
DETERMINERS = ARTICLES | words("this that these those my your our its their every each any all some both")

DROPPED = words(
    "the an this that these those my your our its i you we do does did will would shall should must have has had "
    "please just also"
)
"""Words that say nothing about what is done. "Always", "only", "can" and "may" do say something and stay."""

BE = words("am is are was were be been")

GENERIC = words("approach strategy technique tactic methodology")
"""What a strategy is called; dropped at the end of a phrase ("exponential backoff strategy")."""

NEGATIONS = words("not no never nor neither avoid")
COORDINATORS = words("and but plus then")
FLOATING = words(
    "first last always only again alone batchwise together often sometimes daily weekly finally afterwards later next"
)
"""Adverbs that stand anywhere without becoming a subject or an object; words in -ly do too."""

ORDINALS = words("first last next")
COMPETING = ORDINALS | words("finally afterwards later sometimes often")
"""Of the adverbs that float, those whose places tell what each belongs to; words in -ly do too."""

ADJECTIVES = words("big large small new old whole full minimal same other short long narrow simple")
"""They stand before a noun: "the new test"."""

COLLECTIVES = words("suite table feature file codebase repository project history dataset document page pipeline log")
"""What "full" and "complete" call whole."""

CAUSATIVES = words("let make ask tell get force allow help instruct want")
USING = words("use utilize leverage employ apply adopt via")
REPLACING = words("replace substitute swap exchange override supersede")
AGENTS = words("model agent llm assistant planner coder tester reviewer critic worker subagent user")
"""Who is asked or told: "have the model check" is "ask the model to check"."""

ORDERING = words("sort order rank list show return print put place prioritize keep have")
"""With these, what is first is not done first."""

REPRODUCING = words("reproduce demonstrate prove cover")
"""In a test is with a test."""

PREFERRING = words("prefer favor choose select")
EVENTS = words("fail error exception timeout success startup shutdown exit crash conflict")
"""Nouns that happen: "on timeout" says "if it times out"."""

ROLES = word_map(
    "before=before after=after from=from to onto=to into=into as=as against=against without=without unless=unless "
    "until till=until because=because despite=despite except=except under=under between=between within=within "
    "during=during since=since across=across per=per above=above below=below through=through behind=behind "
    "about regarding concerning=about beyond=beyond by=by for=for than=than like=like instead=instead over=over "
    "outside=outside of=of inside in on upon at=in when whenever while where if=if with=with"
)
"""Prepositions and conjunctions, and the role each gives to the words that follow it."""

CLAUSES = words("before after if unless until because since")
"""Roles of whole clauses: what follows in one belongs to it, "before deploying to staging"."""

NUMBER_WORDS = word_map(
    "zero=0 one=1 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 ten=10 eleven=11 twelve=12 thirteen=13 "
    "fourteen=14 fifteen=15 sixteen=16 seventeen=17 eighteen=18 nineteen=19 twenty=20 thirty=30 forty=40 fifty=50 "
    "hundred=100 thousand=1000"
)

UNITS = word_map(
    "ms msec msecs millisecond milliseconds=millisecond s sec secs second seconds=second "
    "min mins minute minutes=minute h hr hrs hour hours=hour d day days=day kb=kilobyte mb=megabyte gb=gigabyte"
)
"""Units after a number or glued to it ("30s"), and their names."""

TIMES = words("times time x")
"""After a number they count, and say no more: "retry 3 times" is "3 retries"."""

JOINED_PREFIXES = words("re pre non un multi sub co de anti auto over under mis bi dis super hyper inter intra semi")

_PHRASES = """
back off, backs off, backing off, back offs = backoff
fall back, falls back, falling back = fallback
time out, times out, timed out, timing out, time outs = timeout
work around, works around, working around = workaround
roll back, rolls back, rolled back, rolling back = rollback
set up, sets up, setting up = setup
roll out, rolls out, rolled out, rolling out, roll outs = rollout
log in, logs in, logged in, logging in, sign in, signs in, signed in, signing in = login
log out, logs out, logged out, logging out, sign out, signs out, signed out, signing out = logout
back up, backs up, backed up, backing up = backup
shut down, shuts down, shutting down = shutdown
check out, checks out, checked out, checking out = checkout
fill in, fills in, filled in, filling in, fill out, fills out, filled out, filling out = fill
kick off, kicks off, kicked off, kicking off, spin up, spins up, spinning up = start
sum up, sums up, summed up, summing up = summarize
clean up, cleans up, cleaned up, cleaning up = cleanup
look up, looks up, looked up, looking up = lookup
code base = codebase
data base, data bases = database
stack trace, stack traces = stacktrace
white space = whitespace
file name, file names = filename
file system = filesystem
pull request, pull requests = pullrequest
step by step = stepwise
1 by 1, 1 at a time = singly
in batches, by batches, in batch, batch by batch = batchwise
at once, all at once, in 1 go = together
perform a dry run, do a dry run, make a dry run, run a dry run, dry run, dry runs = dryrun
every single = each
in parallel, at the same time = concurrently
instead of, rather than, in place of, as opposed to = instead
prior to, ahead of = before
in order to, so as to = to
as soon as, each time, every time, in case of, in case, in the event of = if
as well as = and
by means of, with the help of = with
make use of, makes use of, making use of = use
make sure that, make sure, makes sure, making sure = ensure
carry out, carries out, carried out, carrying out = run
look for, looks for, looked for, looking for = search
look at, looks at, looked at, looking at = inspect
get rid of, getting rid of = remove
turn on, turns on, turned on, turning on, switch on, switching on = enable
turn off, turns off, turned off, turning off, switch off, switching off = disable
break down, breaks down, breaking down, break up, breaking up, split up, splitting up = split
double check, double checking = verify
try again, tries again, trying again = retry
run again, running again = rerun
start over, starting over = restart
pub sub = pubsub
use case, use cases = usecase
"""

PHRASES = {
    tuple(str(phrase).split()): meaning
    for phrases, meaning in (line.split(" = ") for line in _PHRASES.strip().splitlines())
    for phrase in phrases.split(", ")
}
"""Phrases that act as one word."""

SHORT_FORMS = word_map("can't cannot=can don't dont=do won't=will shan't=shall doesnt=does didnt=did isnt=is arent=are")
"""Contractions with "not" that no rule of spelling gives."""

SYNONYMS = word_map(
    "execute perform=run delete erase=remove repair=fix check validate confirm=verify begin commence=start "
    "divide=split tell instruct=ask halt=stop locate=find piece segment=chunk rephrase=reword "
    "alter modify=change enhance=improve reply=respond retrieve=fetch decrease=reduce pick choose=select "
    "examine=inspect display=show big=large rapid fast=quick rapidly=quickly incrementally=gradually repo=repository "
    "doc=documentation config=configuration dir directory=folder db=database fn func=function app=application "
    "param=parameter arg=argument env=environment prod=production dependencies dep=dependency every=each "
    "extra additional=more entire=whole prior=previous async=asynchronous asynchronously=asynchronous sync=synchronous "
    "maximal max=maximum minimal=minimum parallel=concurrently defect=bug failure=fail colour=color behaviour=behavior "
    "catalogue=catalog programme=program grey=gray linter=lint info=information favour=favor"
)
"""Words of one meaning (uninflected), and the one that stands for them."""

PARTICLES = words("out off on back up down in over")
"""They may stand apart from their verb: "turn the cache off"."""

OPPOSITES = word_map(
    "big=small large=small fast=slow quick=slow first=last old=new high=low long=short minimum=maximum left=right "
    "hot=cold strong=weak more=less good=bad cheap=expensive local=remote read=write input=output source=target "
    "public=private client=server old=current train=test simple=complex early=late up=down top=bottom open=close "
    "inner=outer parent=child outer=inner upper=lower"
)
"""Where a phrase holds both, their places matter: "small model, big context" is not "big model, small context"."""

FOREIGN = words(
    "af aldri aldrig alla alltid altid altijd antes ao après att até au auch auf aus aux avant avec baada bago bei "
    "beim bez bila bis che chez com con cuando daarna dan dann dans das de dei del della delle dem den dengan "
    "depois der des desde después det değil di die dopo dos du dupa durch e een eerst efter ei ein eine einem einen "
    "einer el eller elott em en ennen entonces então erst est et fara före först før für gdy geen gegen gli hasta "
    "het ikke il ile ilman immer inainte inte ist ja jamais jangan jest jika jälkeen kabla kein keine la las le les "
    "lub luego mai mit naar nach nadat najpierw ne nel nem ni nicht nie niet nigdy nooit nunca nur não när når och "
    "oder og ohne oraz ou pagkatapos para pas più poi por potem pour pred prima primero przed puis på quando sans "
    "sau sebelum sem sempre senza sesudah setelah si sich siempre sind się sobre som sono sonra sont sous statt sur "
    "tanpa tidak til toujours truoc um uma un una und une untuk utan uten van ve veya vom voor vor wanneer wenn "
    "werden wird wordt zawsze zijn zonder zuerst zum zur zwischen är önce über "
)
"""Function words of other languages: where one stands, what English words and their order mean does not hold."""
