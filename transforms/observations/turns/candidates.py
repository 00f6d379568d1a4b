"""Which statements are worth reading for stages of something: asked of all at once, for reading each takes long."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from slowwave.transforms.observations.states.claims import LONGEST

# where a word ends is found several times as fast by ASCII
_STAGED = (
    r"(?i)(?-u:\b)(?:struggl\w+|trouble\w*|difficult\w*|problems?|issues?|stuck|setbacks?|snags?|hard time|holdup"
    r"|broke\w*|crash\w+|damaged|misplaced|wrecked|ruined|lost|stolen|flooded|failing|leaking|blocked|on hold"
    r"|out of order|down"
    r"|stopped working|repair\w*|fixing|fixed|fixes|fell apart|errors?|bugs?|failures?|accident|overc[ao]me|resolve[ds]"
    r"|solve[ds]|figured out|replace[ds]|got through|conquer\w*|restore[ds]|sorted|healed|recovered|clean|green"
    r"|running|working|breakthrough|solution|success|appl(?:ied|ies|ying)|audition\w*|interview\w*|submit\w*|enter(?:ed|s)"
    r"|nominated|waiting|sent|competing|in talks|accepted|rejected|rejection|hired|selected|shortlisted|turned down"
    r"|approved|declined|denied|chosen|won|win|wins|winning|placed|got the|got a|nervous|anxious|worried|stressed"
    r"|apprehensive|went|turned out|passe[ds]|aced|nailed|survived|learn\w*|lessons|practicing|mastered|fluent|expert"
    r"|certified|injur\w+|hurts?|sprain\w*|fractur\w*|tore|torn|twisted|sick|ill|illness|surgery|flu|fever|hospital\w*"
    r"|pain|concussion|pneumonia|infection|recover\w*|better|cast|discharged|apartment|house|flat|home|condo|studio"
    r"|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|currently|now|lately|hooked|obsessed|addicted"
    r"|these days|non-?stop|right now|has been|have been|single|dating|seeing|girlfriend|boyfriend|move[ds]? in|engaged"
    r"|married|the knot|broke up|split up|divorced|script|screenplay|book|novel|manuscript|app|application|movie|film"
    r"|game|song|album|video|article|paper|report|project|presentation|design|feature|patch|module|library|package"
    r"|service|tool|website|site|blog|story|poem|podcast|prototype|robot|thesis|essay|proposal|portfolio|documentary"
    r"|play|exhibit|dogs?|pups?|pupp\w+|cats?|kitt\w+|birds?|parrots?|turtles?|hamsters?|rabbits?|horses?|snakes?|cars?|bikes?"
    r"|bicycles?|motorcycles?|trucks?|boats?|guitars?|pianos?|cameras?|laptops?|child|children|sons?|daughters?|bab\w+"
    r"|brothers?|sisters?|tattoos?|plants?|gardens?|pets?|furry friends?)(?-u:\b)"
)
"""Without one of these a statement tells no stage of anything."""
TELLS_BY_ITSELF = (
    r"(?i)(?-u:\b)(?:swapped|traded|exchanged|turned|transformed|converted|merged|went|gone|grew|grown|progressed|evolved"
    r"|shifted|but|turning|transforming|converting|broke up|split up|breaks up|parted|separated|divorced|retire[ds]"
    r"|resign\w*|graduate[ds]|dropp?ed out|move[ds] out|passe[ds] away|died|dies|married|the knot|engaged"
    r"|first time|any ?more|any ?longer"
    r"|back ?seat|on hold|place|house|apartment|flat|home|used to)"
    r"(?-u:\b)|→|->|=>"
)
"""Without one of these none tells by itself what changed."""
_STEP = (
    r"(?i)(?-u:\b)(?:(?:add|creat|implement|introduc|remov|delet|drop|strip|fix|resolv|repair|correct|renam|mov|extract"
    r"|relocat|updat|chang|modif|replac|switch|convert|migrat|rewr|rework|wir|hook|connect|integrat|merg|combin|unif"
    r"|inlin|regist|simplif|upgrad|bump|downgrad|enabl|disabl|install|refactor|split|document|expos|deploy|publish"
    r"|configur|build|writ)\w*|wrote|built|new|function|method|field|type|parameter|column|test|helper|constant"
    r"|const|class|module|hook|flag|option|struct|component|endpoint|command|script|section)(?-u:\b)"
)
"""Without one of these none tells a step of work."""
_RUN = r"(?i)(?-u:\b)(?:pass\w*|compil\w*|builds?)(?-u:\b)"
"""Without one of these none tells how tests or a build went."""
_SECOND_SENTENCE = r"[.!?]\s+\S"
_FIRST_WORD = r"(?i)^\W*(?:(?:the|our|my|your|his|her|their)\s+)?(\w+)"


class Signs(NamedTuple):
    """Patterns without which no statement tells a change by itself, a step of work, or how a run went."""

    told: str
    step: str
    run: str


TURN_SIGNS = Signs(TELLS_BY_ITSELF, _STEP, _RUN)


def turn_candidates(statements: pl.DataFrame, signs: Signs = TURN_SIGNS) -> pl.DataFrame:
    """The statements that may tell a stage of something, a change by themselves, a step of work, or how a run went.

    Args:
        statements: scope (a number) and content, and what else is to be kept.
        signs: what each must have.

    Adds is_staged, is_told, is_step and is_run: which of these. Stages are told of one subject: by a statement that
    begins with the word that another of its scope begins with.
    """
    content = pl.col("content")
    is_alike = pl.len().over("scope", content.str.extract(_FIRST_WORD).str.to_lowercase()) > 1
    return (
        statements.filter(
            content.str.len_chars() <= LONGEST,
            ~content.str.contains(_SECOND_SENTENCE),
            ~content.str.ends_with("?"),
            ~content.str.starts_with("|"),
        )
        .with_columns(
            (is_alike & content.str.contains(_STAGED)).alias("is_staged"),
            content.str.contains(signs.told).alias("is_told"),
            content.str.contains(signs.step).alias("is_step"),
            content.str.contains(signs.run).alias("is_run"),
        )
        .filter(pl.any_horizontal("is_staged", "is_told", "is_step", "is_run"))
    )
