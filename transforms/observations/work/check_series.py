"""How tests, builds and checks went, one after the other: the linter reports errors, then it passes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from slowwave.transforms.language.hinted import Hinted
from slowwave.transforms.observations.turns.cues import Statement, StatusChange
from slowwave.transforms.observations.turns.run_series import later_runs

_TOOLS = {
    "lint": (r"\w*lint(?:er|ing|s)?", "lint"),
    "build": (r"builds?|compil(?:e|es|er|ation|ing)", "build|compil"),
    "types": (r"type ?-?check\w*|type errors?|typescript(?: build)?", "type"),
    "ci": (r"ci|pipeline|workflow", "ci |pipeline |workflow "),
}
_BAD = (
    r"(?:now |still |currently |also |reports |reported )*(?:fail(?:s|ed|ing|ures?)?|errors?|crash(?:es|ed|ing)?"
    r"|(?:is|are) (?:still )?(?:broken|red|failing)"
    r"|(?:does not|doesn['’]t|do not|don['’]t|won['’]t|cannot|can['’]t) (?:pass|build|compile|start|run|work))"
)
_GOOD = (
    r"(?:(?:is|are|should|all|both) )?(?:now |again |all |fully )*(?:pass(?:es|ed|ing)?|succeed(?:s|ed)"
    r"|success(?:ful(?:ly)?)?"
    r"|(?:is |are |compiles? |runs? )?(?:now )?(?:clean(?:ly)?|green)|reports? (?:0|no) \w+|(?:is|are) (?:now )?fixed"
    r"|(?:now )?(?:works?|starts?|runs) (?:again|now|correctly|fine|without \w+))"
)
_STATES = tuple(
    (tool, state, Hinted(rf"\b(?:{name})\b (?:errors? |checks? |scripts? |process |run )?{how}\b", hints))
    for tool, (name, hints) in _TOOLS.items()
    for state, how in ((1, _GOOD), (0, _BAD))
)
_BROKEN = Hinted(r"\b(?:type(?:script)?|compil(?:e|er|ation)|build|syntax) errors?\b", " error")
_TESTS = (
    ("build", 0, _BROKEN),
    (
        "tests",
        1,
        Hinted(
            r"\b(?:all|the) (?:of the |\d+ )?(?:existing |unit |integration |e2e )?tests (?:are |is )?"
            r"(?:now (?:all )?pass\w*|all pass\w*|pass(?:es|ed|ing)? (?:again|now))\b"
            r"|\ball (?:of the |the )?(?:\d+ )?(?:existing |unit |integration "
            r"|e2e )?tests (?:are )?(?:now )?pass(?:ed|ing)?\b",
            "tests ",
        ),
    ),
    (
        "tests",
        0,
        Hinted(r"\btests? (?:is |are )?(?:now |still |currently |also )*(?:fail(?:s|ed|ing|ures?)?)\b", "fail"),
    ),
)
_MEANT_TO = re.compile(r"→|\b(?:inverted|as expected|deliberately|on purpose|confirm\w*|prov\w+)\b", re.IGNORECASE)
_OVER = re.compile(r"\b(?:fixed|resolved|no|0|zero|without|any)\b", re.IGNORECASE)
_NOT_SO = re.compile(
    r"\b(?:verif\w+|check\w* (?:if|whether|that)|make sure|ensure|whether|if|until|should"
    r"|let me (?:run|check|verify|see|test)"
    r"|so that|would|could|might|may|will|want|expect\w*|when|unless|without|instead of|before|never)\b|\?$",
    re.IGNORECASE,
)


def runs_since(told: Iterable[Statement]) -> Iterator[StatusChange]:
    """Of runs of as many tests, of builds and of checks each that went otherwise than the one before."""
    some = sorted(told, key=lambda one: (one.at, one.statement))
    known = {(turn.earlier, turn.later): turn for turn in later_runs(some)}
    yield from known.values()
    changed = {turn.later for turn in known.values()}
    last: dict[tuple[int, str], tuple[Statement, int, str]] = {}
    for one in some:
        for tool, state, pattern in (*_STATES, *_TESTS):
            match = pattern.search(one.text)
            if match is not None and not state and _OVER.search(one.text[: match.end()]):
                continue
            if match is None or _NOT_SO.search(one.text[: match.end()]) or _MEANT_TO.search(one.text):
                continue
            before = last.get((one.scope, tool))
            if before is not None and before[0].at < one.at and before[1] < state and one.statement not in changed:
                changed.add(one.statement)
                yield StatusChange(before[0].statement, one.statement, "", "", before[2], match.group())
            last[one.scope, tool] = (one, state, match.group())
            if state:
                break  # what passes is not read as failing too
