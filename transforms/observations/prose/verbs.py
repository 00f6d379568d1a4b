"""What kind of act a verb tells: any verb of doing, not those of looking, thinking and telling."""

from __future__ import annotations

from slowwave.transforms.language.inflection import inflection
from slowwave.transforms.language.lexicon import words
from slowwave.transforms.observations.work.verbs import work_verb

_LOOKING = words(
    "check look see read view examine inspect review explore understand find search run start begin continue know "
    "think note explain show tell say ask want need try get go come take give have do be let keep wait stop "
    "consider decide analyze investigate debug trace confirm ensure help hope like plan proceed figure seem feel "
    "mean work happen occur require exist contain appear expect suggest recommend summarize describe list compare "
    "learn believe agree share relate base name detail attach prove mark provide present"
)
REMOVING = frozenset({"remove", "revert", "disable", "downgrade"})
"""They undo: never one act with those that make."""
REWORKING = frozenset({"add", "update", "fix", "refactor", "simplify", "wire", "move", "configure", "align", "apply"})
"""Of these one is often told as another."""


def deed_verb(word: str) -> tuple[str | None, str]:
    """The meaning of a verb of doing, and its form; None of others."""
    known, form = work_verb(word)
    if known == "test":
        return None, form
    if known is not None:
        return known, form
    found = inflection(word)
    if found.is_verb and found.base not in _LOOKING:
        return found.base, found.form
    return None, found.form


def is_one_kind(one: str, other: str) -> bool:
    """Whether one act may be told by both verbs."""
    return one == other or {one, other} <= REWORKING
