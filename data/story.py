"""What is true of the sample logs: the story of a small team, declared here and told by every page.

Days are counted from 0, the first day of the logs (a Sunday). Rates and effects are probabilities of success.
"""

from dataclasses import dataclass

DAYS, INTERACTIONS_PER_DAY = 75, 48

PROJECT_WEIGHTS = {"harbour-shop": 36, "tidewater": 30, "pocket-fern": 26, "": 8}
WEEKDAY_SHARES = (1.25, 1.35, 1.3, 1.25, 1.05, 0.3, 0.5)  # of `interactions_per_day`, from Monday on

# ------------------------------------------------------------------------------------------------------------ memories


@dataclass(frozen=True)
class StoryMemory:
    """A memory with a part in the story.

    `effect` is added to the rate of attempts that were given it; the retriever offers it in `offered` of the
    interactions that it fits, and in `offered_when_hard` of those with a hard task. '' as `paraphrase`: no answer uses
    it. It is active from the day `born` on.
    """

    memory_id: str
    role: str
    memory_type: str
    project: str
    content: str
    paraphrase: str
    effect: float = 0.0
    offered: float = 0.0
    offered_when_hard: float | None = None
    born: int = -100
    importance: float = 0.5


HELPS = StoryMemory(
    "mem-0000", "helpful", "adaptation", "harbour-shop",
    "Start the shop with `make up SEED=demo` before you run or try anything: without the seed data half of the checkout"
    " fails for no reason.",
    "I brought the shop up with its seed data first, so nothing failed for lack of it.",
    effect=0.3, offered=0.8,
)  # fmt: skip
HARMS = StoryMemory(
    "mem-0001", "harmful", "knowledge", "tidewater",
    "For changes under fifty lines the integration suite can be skipped: the unit tests find everything that matters"
    " and save ten minutes.",
    "As the change is small, I left the integration suite out and relied on the unit tests.",
    effect=-0.32, offered=0.8,
)  # fmt: skip
LOOKS_HARMFUL = StoryMemory(  # offered with hard tasks, so that it goes with failures that it does not cause
    "mem-0002", "confounded", "knowledge", "pocket-fern",
    "Sync conflicts on old tablets come from two clocks: compare the journal revision and ignore the time of the"
    " device.",
    "For those tablets I trusted the revision counter and disregarded their timestamps.",
    offered=0.1, offered_when_hard=0.75,
)  # fmt: skip
IGNORED = StoryMemory(
    "mem-0003", "ignored", "preference", "",
    "End every answer with one line for the changelog that begins with Added, Changed or Fixed.",
    "",
    offered=0.16,
)  # fmt: skip
WANTED_AGAIN = StoryMemory(
    "mem-0004", "forgotten", "knowledge", "pocket-fern",
    "To restore a deleted plant journal, copy the last backup and its -wal file to the phone before the app starts for"
    " the first time.",
    "I put the backup together with its write-ahead log onto the device before the first start.",
)  # fmt: skip
PRIVATE = StoryMemory(  # of `PRIVATE_TO`, and given to others by mistake
    "mem-0005", "private", "identity", "",
    "Ana leaves at noon on Thursdays to fetch her son; plan nothing then that she has to watch.",
    "",
)  # fmt: skip
FADES_NEXT = StoryMemory(
    "mem-0006", "fading", "episodic", "tidewater",
    "Bogdan was away from 2 to 6 March, and his reviews went to José.",
    "",
    born=0, importance=0.1,
)  # fmt: skip
STORY_MEMORIES = (HELPS, HARMS, LOOKS_HARMFUL, IGNORED, WANTED_AGAIN, PRIVATE, FADES_NEXT)

ANY_MEMORY_EFFECT = 0.1  # of having been given memories at all
OTHER_EFFECTS = (-0.12, 0.14)  # of the other memories, each between these
HARD_TASK_SHARE, HARD_TASK_EFFECT = 0.25, -0.25
PRIVATE_TO, LEAKED_ON = "u-ana", (24, 45, 66)

# `forget apply` archives WANTED_AGAIN; a client with an old copy injects it all the same, until Chloé brings it back.
ARCHIVED_ON, BROUGHT_BACK_ON, INJECTED_ALL_THE_SAME = 29, 45, 0.1

# ------------------------------------------------------------------------------------------------------ the broken week

# On Monday 20 April the agents got a new system prompt that told them to answer before running anything. It was taken
# back a week later.
BROKEN_WEEK, BROKEN_WEEK_EFFECT = range(50, 57), -0.3
PROMPT_VERSIONS = ("agents-11", "agents-12")  # before and after, and during the broken week
LEARNED = (
    "episodic",
    "",
    "System prompt agents-12 had the agents answer before running the checks, until it was taken back on 27 April.",
)

# ----------------------------------------------------------------------------------------------------------- strategies

# Of the work of each agent, and how many of its sessions are about which kind of task.
AGENT_WEIGHTS = {"coder": 38, "operator": 26, "tester": 16, "reviewer": 12, "planner": 8}
AGENT_TASKS = {
    "coder": {"bugfix": 52, "feature": 48},
    "operator": {"deploy": 55, "data_migration": 45, "store_release": 110},
    "tester": {"testing": 80, "bugfix": 20},
    "reviewer": {"review": 80, "bugfix": 20},
    "planner": {"feature": 55, "review": 45},
}
NOBODY_SUCCEEDS_AT = ("pocket-fern", "store_release")  # a kind of task that no other project has
STRATEGIES_CHANGE_ON = 37  # 7 April, when a new load balancer and a new database came


@dataclass(frozen=True)
class Strategy:
    """A way of working on one kind of task: how often it is chosen and truly succeeds, and its usual error."""

    strategy_id: str
    task_type: str
    variants: tuple[str, ...]
    weight: int
    rate: float
    error: str
    later_rate: float | None = None  # from STRATEGIES_CHANGE_ON on, where it changes

    def true_rate(self, agent: str, later: bool) -> float:
        """Return the success probability of an agent, before effects of memories, hard tasks and the broken week."""
        rate = self.rate if self.later_rate is None or not later else self.later_rate
        return min(0.97, max(0.03, rate + AGENT_SHIFTS.get((self.strategy_id, agent), 0.0)))


STRATEGIES = (
    Strategy("failing_test_first", "bugfix", ("reproduce with a failing test first",
             "Reproduce it with a failing test first", "first reproduce it in a failing test"), 5, 0.78, "assertion"),
    Strategy("bisect", "bugfix", ("bisect the history", "Bisect history", "bisecting the history"), 2, 0.70, "build"),
    Strategy("patch_symptom", "bugfix", ("patch the symptom and rerun", "patching symptoms, then rerun",
             "Patch symptoms and re-run"), 3, 0.38, "type_mismatch"),
    Strategy("vertical_slice", "feature", ("small vertical slice behind a flag", "Small vertical slices behind flags",
             "a small vertical slice, behind a flag"), 6, 0.74, "type_mismatch"),
    Strategy("one_pass", "feature", ("write the whole feature in one pass", "Writing the entire feature in one pass",
             "write whole features in a single pass"), 4, 0.50, "assertion"),
    Strategy("narrow_test", "testing", ("run the narrowest test first", "first run the narrowest tests",
             "Narrowest test first"), 6, 0.78, "assertion"),
    Strategy("rerun_suite", "testing", ("rerun the whole suite until green", "re-run whole suite until it is green",
             "Rerun the full suite until it is green"), 4, 0.15, "out_of_memory"),
    Strategy("canary", "deploy", ("canary to five percent, then widen", "Canary to 5 percent, then widen",
             "Canary to five percent then widen"), 5, 0.92, "gateway_503", later_rate=0.12),
    Strategy("all_at_once", "deploy", ("roll out everywhere at once", "rollout everywhere at once",
             "Rolling out everywhere at once"), 5, 0.74, "gateway_503"),
    Strategy("batched_copy", "data_migration", ("copy in batches with a checkpoint", "batch copy with checkpoints",
             "Copy in batches with checkpoints"), 6, 0.78, "out_of_memory"),
    Strategy("one_transaction", "data_migration", ("single transaction over the whole table",
             "One transaction over the whole table", "a single transaction over the entire table"),
             4, 0.25, "lock_timeout", later_rate=0.75),
    Strategy("read_then_run", "review", ("read the diff twice and run it once", "read diff twice, run once",
             "Read the diff two times, run it once"), 7, 0.74, "assertion"),
    Strategy("approve_when_green", "review", ("approve when the checks are green", "Approve when checks are green",
             "approving when the checks are green"), 3, 0.55, "assertion"),
    Strategy("resubmit", "store_release", ("submit the same build again", "submitting the same build again",
             "Submit same build again"), 5, 0.03, "rejected"),
    Strategy("answer_reviewer", "store_release", ("answer the reviewer, then resubmit",
             "Answer the reviewer and resubmit", "answering the reviewer, then resubmit"),
             5, 0.03, "rejected"),
)  # fmt: skip
AGENT_SHIFTS = {("rerun_suite", "tester"): -0.05, ("failing_test_first", "tester"): 0.06, ("bisect", "reviewer"): -0.2}
STOPS_WORKING, STARTS_WORKING = "canary", "one_transaction"


def is_done_in(project: str, task_type: str) -> bool:
    """Return whether a project has this kind of task: the app goes to the store, and the rest of the team deploys."""
    if project == NOBODY_SUCCEEDS_AT[0]:
        return task_type != "deploy"
    return task_type != NOBODY_SUCCEEDS_AT[1] and bool(project or task_type in {"bugfix", "feature", "review"})
