"""What the people of the sample logs ask, and what agents answer: sentences about one piece of work."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from slowwave.data.sample_tasks import PARTS, RELEASED, TICKETS
from slowwave.data.sample_text import Draw

Values = Mapping[str, str | int]

PROMPTS = {
    "bugfix": (
        "{symptom} Can you find out why and fix it?",
        "{ticket}: {symptom} Please fix it.",
        "{symptom} It is {ticket}. Please begin with {path}.",
        "Support has this again: {symptom} What is going on?",
        "{person} saw this today: {symptom} Can you look into it before lunch?",
        "{symptom} This was in production until {version} and came back with it.",
    ),
    "feature": (
        "Please add {feature} to the {name}.",
        "{ticket}: {feature} in the {name}. Start with the smallest piece that works.",
        "Next step of {ticket}: {feature}. {person} has agreed to the design.",
        "We promised {feature} for the {name} this month. What is missing? Please continue.",
        "Go on with {feature} on the branch of {ticket}.",
    ),
    "testing": (
        "The tests of the {name} were red on main last night. Please get them green.",
        "We have no test for {case}. Please add one to {test}.",
        "{test} is flaky: it failed in {few} of the last 50 runs. Can you make it reliable?",
        "Check on a clean checkout that {ticket} is covered, above all {case}.",
        "The suite of the {name} takes eleven minutes now. What is slow, and is it still green?",
    ),
    "deploy": (
        "Please roll out {version} of the {name}. {person} is on call.",
        "Deploy the {name} {version} to production.",
        "{ticket} is merged. Ship what is on main of the {name} before noon.",
        "{version} of the {name} is on staging since yesterday and looks fine. Please release it.",
    ),
    "data_migration": (
        "Add {column} to {table} and fill it for the rows that are there.",
        "{ticket}: move {table} to the new database without losing writes.",
        "Backfill {column} in {table}, please. It has about {millions} million rows.",
        "The rows of {table} from before 2024 go to the archive. Keep the {name} running meanwhile.",
    ),
    "review": (
        "Please review my branch for {ticket}. It is about this: {symptom}",
        "{person} asks for a second opinion on {path} in {ticket}.",
        "Can {ticket} go in? It changes {path} and adds {feature}.",
        "Review {ticket}, please, and try it once with {case}.",
    ),
    "store_release": (
        "Please submit {version} to the App Store.",
        "The App Store rejected {version} again. Please sort it out and submit it.",
        "{version} has waited for the store since Monday. What do they want this time?",
    ),
}
FOLLOW_UPS = {
    "bugfix": (
        ("It still happens for me on main. Can you look again?", "I looked again on a fresh checkout."),
        ("Can you add a test so that this does not come back?", "{test} has a case for it now."),
        ("Please explain it in two sentences, so that {person} can follow.", "In short:"),
        ("Does it also happen with {case}?", "Yes, with {case} as well, and for the same reason."),
    ),
    "feature": (
        ("Good start. Now the case of {case}, please.", "I went on with {case}."),
        ("{person} wants to try it. Can you put it behind a flag on staging?", "It is on staging behind a flag."),
        ("What happens with {case}?", "So far nothing was done about {case}; now there is."),
        ("Please keep it out of {path}, that file is long enough.", "It has a module of its own now."),
    ),
    "testing": (
        ("Still red here: {test}.", "I ran {test} on its own."),
        ("And on the build machine?", "I ran it there too."),
        ("Please do the same for {case}.", "{case_first} has its own test now."),
    ),
    "deploy": (
        ("How does it look after ten minutes?", "Here is how it looks after ten minutes."),
        ("Please roll back and try again in an hour.", "It was rolled back, and this is the second try."),
        ("Now the other region, please.", "The other region is next."),
    ),
    "data_migration": (
        ("How far is it?", "Here is where it stands."),
        ("{person} says the {name} is slow. Is it you?", "Partly. I lowered the pace."),
        ("Please try it on a copy first.", "I tried it on last night's copy of {table}."),
        ("Run it again, the disk has been enlarged.", "It ran again on the larger disk."),
    ),
    "review": (
        ("I have pushed the changes you asked for. Please look again.", "I looked at the new commits."),
        ("Is the test enough?", "The test covers the main path."),
        ("{person} would rather split it. What do you think?", "It can be split after the second commit."),
    ),
    "store_release": (
        ("They have answered. Please try again.", "I read their answer and tried again."),
        ("Please try once more before the weekend.", "This is one more try."),
    ),
}
SHORT_FOLLOW_UPS = (
    ("Go on.", ""),
    ("Continue, please.", ""),
    ("Try another way, this one takes too long.", "I started over another way."),
    ("Yes, please do that.", "Done as discussed."),
    ("ok, next", ""),
    ("Once more, please: the connection broke.", "I picked it up where it stopped."),
)
# How an agent went about it, by strategy.
APPROACHES = {
    "failing_test_first": ("I wrote a test first that fails in the same way; it is in {test}.",
                           "First I reproduced it in {test}, where it now fails every time."),
    "bisect": ("I bisected the history from the last release to main and ended at commit {hex}.",
               "Bisecting took six steps and led to {hex}, a change to {path} of three weeks ago."),
    "patch_symptom": ("I put a guard where it surfaced, in {path}, and ran it again.",
                      "I caught the error in {path} and ran it again."),
    "vertical_slice": ("I built the thinnest slice that works, from the page down to {table}, behind a flag.",
                       "First a small slice behind a flag: one field, one query, one test."),
    "one_pass": ("I wrote all of it in one go; it touches {few} files around {path}.",
                 "The whole of it is written, from {path} to the page."),
    "narrow_test": ("I ran only {test} first, and then the rest.",
                    "I began with the narrowest test, the one about {case}."),
    "rerun_suite": ("I ran the whole suite {few} times.", "I repeated the whole suite on the build machine."),
    "canary": ("{version} went to five percent of the traffic first.",
               "I started with a canary of five percent and watched it for ten minutes."),
    "all_at_once": ("I rolled {version} out to all instances at once.", "{version} went out everywhere in one step."),
    "batched_copy": ("I copied {table} in batches of 10,000 rows with a checkpoint after each.",
                     "It runs in batches now, and can be stopped and resumed after each."),
    "one_transaction": ("I changed {table} in a single transaction.",
                        "All rows of {table} were changed in one transaction, outside office hours."),
    "read_then_run": ("I read the diff twice and ran it once against the data of staging.",
                      "I went through {path} twice and then tried it."),
    "approve_when_green": ("The checks are green, so I approved it.", "All checks passed, and I approved."),
    "resubmit": ("I submitted the same build again.", "The same build is submitted once more."),
    "answer_reviewer": ("I answered the reviewer's question about the demo account and submitted again.",
                        "I wrote to the reviewer how to sign in, and submitted again."),
}  # fmt: skip
# What is said of it when it worked; and when nobody says yet whether it did.
FINDINGS = {
    "bugfix": ("{cause} {fix}", "{cause} {fix} The same pattern is in two more places; I left those alone.",
               "{fix} Before, this happened: {cause}"),
    "feature": ("The server checks the input again, so an older client cannot get around it.",
                "Nothing changes for those who do not have the flag.",
                "It also handles {case}.", "I kept the style of {path}: use tabs.",
                "The texts are in English; Haruto has the list for the translation."),
    "testing": ("The test waited for a fixed 200 ms; it waits for the event now.",
                "Two tests shared a row of {table}, and each makes its own now.",
                "The test for {case} was missing and is there now.",
                "The clock of the test is fixed now, it used to be the machine's."),
    "deploy": ("Error rate and latency stayed where they were for fifteen minutes.",
               "The change to {table} ran before the new instances started.",
               "No errors from the {upstream} since.", "All instances report {version}."),
    "data_migration": ("Counts before and after agree.", "Readers saw the old rows until the switch.",
                       "Nothing was blocked for longer than two seconds.",
                       "The new column is filled everywhere, and new rows get it from the application."),
    "review": ("The change in {path} does what it says.", "The log line prints the whole row, names included.",
               "There is no test for {case}.", "The name of the new function says less than it does.",
               "The query reads {table} once per row; that should be one query."),
    "store_release": ("The build is through and waits for its date.",),
}  # fmt: skip
OPEN_ENDS = {
    "bugfix": ("I think I have found it. {cause} Shall I change it?", "My reading so far: {cause}"),
    "feature": ("A draft is on the branch of {ticket}. Two things are open: {case}, and who may see it.",),
    "testing": ("It passes here. I would look at {case} next.",),
    "deploy": ("{version} is built and waits for a go.",),
    "data_migration": ("The plan: add {column} as nullable, fill it, then make it required. Shall I begin?",),
    "review": ("I have two questions about {path} before I can say more.",),
    "store_release": ("The store has not answered yet.",),
}
SUCCESSES = {
    "bugfix": (
        "All {many} tests pass.",
        "It no longer happens, and the other tests are green.",
        "{person} confirmed it.",
    ),
    "feature": ("The new tests pass, and {person} can try it on staging.", "It works on staging."),
    "testing": ("Green in 20 runs out of 20.", "All {many} tests pass now."),
    "deploy": ("The release is complete.", "It is live everywhere."),
    "data_migration": ("It ran through in {few}0 minutes.", "The migration is complete."),
    "review": ("With that it can go in.", "I approved it with two remarks."),
    "store_release": ("It is accepted.",),
}
FAILURES = {
    "bugfix": ("It does not hold: {error}", "My best guess was this: {cause} But it still fails: {error}"),
    "feature": ("It does not work yet: {error}", "I stopped here, because of this: {error}"),
    "testing": ("It is still red: {error}", "The run ended with {error}"),
    "deploy": ("It was rolled back after this: {error}", "The rollout stopped with {error}"),
    "data_migration": ("It broke off: {error}", "It failed halfway and was undone: {error}"),
    "review": ("When I ran it, it failed: {error}", "I approved too early: on main it fails with {error}"),
    "store_release": ("Refused again: {error}",),
}
SUMMARIES = ("{ticket}: worked on the {name}.", "{ticket}, {path}.", "Work on the {name} for {person}.")
FEEDBACK = ("good, kept it", "worked after review", "had to redo part of it", "wrong file, reverted", "très bien 👍")

# Errors that recur with other numbers and ids, by name.
ERRORS = {
    "lock_timeout": "OperationalError: lock wait timeout after {ms} ms on table {table} (transaction 0x{hex})",
    "gateway_503": "HTTP 503 from the load balancer, request {hex}: no healthy backend for {name} after {few} retries",
    "assertion": "AssertionError: expected {few} rows in {table}, got {many} ({test}:{line})",
    "build": "FileNotFoundError: [Errno 2] No such file or directory: '/srv/build/{hex}/{path}.lock'",
    "out_of_memory": "Killed: worker {few} used {above} MiB of 4096 MiB while reading {table}",
    "type_mismatch": "TypeError: unsupported operand at {path}:{line}: 'int' and 'NoneType'",
    "rejected": "App Store rejection of build {line}: guideline 2.1, the demo account could not sign in",
}
# What was no real attempt, by reason: what the answer says, and the messages.
NON_ATTEMPTS = {
    "cascade": ("A step before this one failed, so I did not try it.",
                ("Skipped: depends on step build-{few} which failed", "depends on {name} which was not ready")),
    "sibling": ("Another call failed beside it, so this one was not made.",
                ("Sibling tool call errored", "<tool_use_error>Sibling tool call errored</tool_use_error>")),
    "cancelled": ("I was interrupted before I could begin.",
                  ("Request was cancelled by the client after {few} s", "cancelled: superseded by a newer request")),
    "refused": ("You refused the call, so I changed nothing.",
                ("The user doesn't want to proceed with this tool use", "Permission denied by user")),
}  # fmt: skip
_LONG_WORD = 5
QUOTING = ("", "", "As noted: ", "From memory: ", "What we know about this: ")


@dataclass(frozen=True)
class Work:
    """What one session is about: a kind of task, and the values that its sentences name."""

    task_type: str
    values: Values
    topics: frozenset[str]

    def said(self, template: str, **more: str | int) -> str:
        """Return a sentence about this work, beginning with a capital letter."""
        text = template.format_map({**self.values, **more})
        return text[:1].upper() + text[1:]


def drawn_work(draw: Draw, project: str, task_type: str, day: int) -> Work:
    """Return a piece of work at one part of a project's software; tickets and versions grow with the days."""
    part = draw.pick(PARTS[project])
    bug = draw.pick(part.bugs)
    facts = {name: str(value) for name, value in vars(part).items() if isinstance(value, str)}
    values: dict[str, str | int] = {
        **facts, **vars(bug), "feature": draw.pick(part.features), "case_first": facts["case"].capitalize(),
        "ticket": f"{TICKETS[project]}-{2 * day + draw.between(140, 170)}",
        "version": f"{RELEASED[project]}.{day // 7 + 2}.{draw.between(0, 4)}", "hex": draw.hexadecimal(7),
        "few": draw.between(3, 9), "many": draw.between(84, 412), "millions": draw.between(2, 40),
    }  # fmt: skip
    return Work(task_type, values, topics(" ".join([*facts.values(), *vars(bug).values(), str(values["feature"])])))


@cache
def topics(text: str) -> frozenset[str]:
    """Return the words of a text that say what it is about: its names and its long words."""
    return frozenset(word.lower() for word in re.findall(r"\w+", text) if len(word) >= _LONG_WORD or word[0].isupper())


def prompt_and_opening(draw: Draw, work: Work, *, is_first: bool) -> tuple[str, str]:
    """Return what a person asks, at the beginning of a session or later in it, and how the answer to it begins."""
    if is_first:
        return work.said(draw.pick(PROMPTS[work.task_type])), ""
    prompt, opening = draw.pick((*FOLLOW_UPS[work.task_type], draw.pick(SHORT_FOLLOW_UPS)))
    return work.said(prompt), work.said(opening)


def answer_text(draw: Draw, work: Work, opening: str, strategy_id: str, success: bool | None, error: str) -> list[str]:
    """Return the sentences of an agent's answer. `success` is None where nobody says whether it worked."""
    kind = work.task_type
    if success is None:
        return [text for text in (opening, work.said(draw.pick(OPEN_ENDS[kind]))) if text]
    parts = [opening, work.said(draw.pick(APPROACHES[strategy_id]))]
    if success:
        how_many = 1 if kind == "bugfix" else draw.between(1, 3)
        parts += [work.said(text) for text in draw.sample(FINDINGS[kind], how_many)]
    parts.append(work.said(draw.pick((SUCCESSES if success else FAILURES)[kind]), error=error))
    return [text for text in parts if text]


def error_text(draw: Draw, template: str, work: Work) -> str:
    """Return one occurrence of a recurring message, with numbers and ids of its own."""
    fresh = {"few": draw.between(2, 9), "many": draw.between(10, 60), "line": draw.between(10, 900),
             "ms": draw.between(1_000, 90_000), "hex": draw.hexadecimal(8),
             "above": draw.between(4_097, 4_800)}  # fmt: skip
    return template.format_map({**work.values, **fresh})
