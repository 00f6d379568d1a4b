"""What runs of tests and builds tell, one after the other: 10 of 12 pass, then all; a build fails, then not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from slowwave.transforms.language.hinted import Hinted
from slowwave.transforms.observations.turns.cues import Statement, StatusChange

_OF = Hinted(
    r"\b(?P<passed>\d+) (?:of|out of|/) (?P<all>\d+)\b(?: [\w-]+){0,3} (?:now )?pass(?:es|ed|ing)?\b",
    " pass",
)
_ALL = Hinted(r"\ball (?P<all>\d+)(?: [\w-]+){0,3} tests? (?:now )?pass(?:es|ed|ing)?\b", " pass")
_BUILDS = (
    Hinted(
        r"\b(?:compil(?:e|er|ation) errors?|(?:does not|doesn['’]t|won['’]t|cannot|can['’]t) (?:compile|build)"
        r"|build (?:fails|failed|is (?:broken|failing|red)))\b",
        "compil|build",
    ),
    Hinted(
        r"\b(?:clean compile|compiles? (?:clean(?:ly)?|again|fine|now|without)|now compiles"
        r"|build (?:succeeds|succeeded|passes|is (?:green|clean|fixed)))\b",
        "compil|build ",
    ),
)
_NOT_SO = re.compile(
    r"\b(?:verif\w+|check\w*|make sure|ensure|whether|if|until|should|let me|need to|see)\b", re.IGNORECASE
)


def later_runs(told: Iterable[Statement]) -> Iterator[StatusChange]:
    """Of runs of as many tests, and of builds, each that went otherwise than the one before."""
    tests: dict[tuple[int, str], tuple[Statement, str, str]] = {}
    builds: dict[int, tuple[Statement, int, str]] = {}
    for one in sorted(told, key=lambda one: (one.at, one.statement)):
        match = _OF.search(one.text) or _ALL.search(one.text)
        if match is not None and not _NOT_SO.search(one.text[: match.start()]):
            count = match.groupdict().get("passed") or match["all"]
            before = tests.get((one.scope, match["all"]))
            if before is not None and before[0].at < one.at and before[1] != count:
                yield StatusChange(before[0].statement, one.statement, "", "", before[2], match.group())
            tests[one.scope, match["all"]] = (one, count, match.group())
        for state, pattern in enumerate(_BUILDS):
            match = pattern.search(one.text)
            if match is None or _NOT_SO.search(one.text[: match.start()]):
                continue
            last = builds.get(one.scope)
            if last is not None and last[0].at < one.at and last[1] < state:
                yield StatusChange(last[0].statement, one.statement, "", "", last[2], match.group())
            builds[one.scope] = (one, state, match.group())
