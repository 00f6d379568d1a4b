"""Verbs of work, by what they mean, as notes of work have them. Lower case, uninflected."""

from __future__ import annotations

from slowwave.transforms.language.inflection import inflection
from slowwave.transforms.language.lexicon import word_map

_VERBS = word_map(
    "add create write implement introduce build generate include define=add "
    "remove delete drop strip eliminate clean=remove fix resolve repair correct address patch solve=fix "
    "rename=rename move extract relocate=move "
    "update change modify replace switch convert migrate rewrite rework adjust tweak refine improve enhance extend "
    "expand rewrite adapt revise=update "
    "wire hook connect integrate=wire merge combine unify consolidate=merge inline=inline register=register "
    "simplify streamline=simplify upgrade bump=upgrade downgrade=downgrade enable=enable disable=disable "
    "install=install refactor restructure reorganize reorganise=refactor split=split document=document "
    "expose export=expose deploy release=deploy publish=publish configure initialize initialise=configure "
    "apply=apply secure=secure optimize optimise=optimize clarify=clarify revert restore=revert commit=commit "
    "push=push format=format wrap=wrap test verify=test center align=align pin=pin tag=tag"
)
_IRREGULAR = {"wrote": "write", "written": "write", "rewrote": "rewrite", "rewritten": "rewrite", "built": "build"}


def work_verb(word: str) -> tuple[str | None, str]:
    """The meaning of a verb of work, and its form."""
    if word in _IRREGULAR:
        return _VERBS[_IRREGULAR[word]], "past"
    if word in _VERBS:
        return _VERBS[word], "base"
    found = inflection(word)
    return _VERBS.get(found.base) if found.form in {"past", "ing", "s"} else None, found.form
