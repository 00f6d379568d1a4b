"""Which statements are worth reading for what notes of work tell: asked of all at once, for reading each takes long."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.observations.turns.candidates import TELLS_BY_ITSELF, Signs, turn_candidates

_CHANGED = (
    r"(?:chang|updat|switch|modif|refactor|migrat|mov|convert|fix|correct|bump|renam|replac|adjust|rework|simplifi|rais|lower"
    r"|increas|decreas|reduc|upgrad|improv|trimm|extend|tighten|widen|relax|shorten|dropp)ed|rewrote|cut|grew|shrank"
    r"|went|rose|fell"
)
TELLS_SINCE = (
    rf"{TELLS_BY_ITSELF}|(?i)(?-u:\b)(?:instead of |rather than |(?:{_CHANGED}) .*(?:to|from|by|with) "
    r"|(?:was|were|used to be) .*now )|\((?:was|were|previously|formerly|up from|down from|instead of) "
)
"""Without one of these none tells by itself what changed."""
_STEP = (
    r"(?i)^\W{0,3}(?:\[.?\]|✅|☑|✔|✓|⬜|☐|🔲|⏳|🔄|🚧)|(?-u:\b)(?:(?:add|creat|implement|introduc|build|built|generat|includ|defin|remov|delet|drop"
    r"|strip|eliminat|clean|fix|resolv|repair|correct|address|patch|solv|renam|mov|extract|relocat|updat|chang|modif|replac"
    r"|switch|convert|migrat|rewr|rework|adjust|tweak|refin|improv|enhanc|exten|expan|adapt|revis|wir|hook|connect|integrat"
    r"|merg|combin|unif|consolidat|inlin|regist|simplif|streamlin|upgrad|bump|downgrad|enabl|disabl|install|refactor"
    r"|restructur|reorgani|split|document|expos|export|deploy|releas|publish|configur|initiali|appl|secur|optimi|clarif"
    r"|revert|restor|commit|push|format|wrap|test|verif|center|align|pin|tag|writ)\w*|wrote|new|now"
    r"|function|method|field|type|parameter|column|helper|constant|const|class|module|hook|flag|option|struct"
    r"|component|endpoint|command|script|section)(?-u:\b)"
)
_RUN = r"(?i)(?-u:\b)(?:pass\w*|compil\w*|builds?|\w*lint\w*|tests?|suite|type\w*|ci|pipeline|workflow)(?-u:\b)"
SIGNS = Signs(TELLS_SINCE, _STEP, _RUN)


def work_candidates(statements: pl.DataFrame) -> pl.DataFrame:
    """As `turn_candidates`, with the signs of notes of work."""
    return turn_candidates(statements, SIGNS)
