"""Whose a memory is: the one key that everything goes by which pairs, groups or compares memories."""

from __future__ import annotations

import re
from typing import Annotated

import polars as pl
from pydantic import BaseModel, ConfigDict, Field


class ScopeParams(BaseModel):
    """What tells memories apart besides project, agent and user."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tags: tuple[Annotated[str, Field(pattern=r"^[^%#,|:=\s]+$")], ...] = Field(
        default=(),
        description='Names of tags, such as "tenant": memories tagged `tenant:acme` or `tenant=acme` are never compared'
        " with those of another tenant, or of none.",
    )


def memory_owner(scopes: ScopeParams) -> pl.Expr:
    r"""Return the scope key: '' (everybody's), `/agent`, `@user` or `/agent@user`, and `#tenant=acme` where tagged.

    Memories of one project and owner may be compared, grouped and merged; others never. Reads agent, user_id and tags.
    A backslash stands before `@` and `\` of an agent that has an `@` or a user: else an agent `coder@ada` would be the
    coder of ada. With scope tags, an agent or user that has a `#` is followed by one: behind the last stand the tags.
    """
    agent, user = pl.col("agent").fill_null(""), pl.col("user_id")
    is_told_apart = user.is_not_null() | agent.str.contains("@", literal=True)
    told_apart = pl.when(is_told_apart).then(agent.str.replace_all(r"([@\\])", r"\$1")).otherwise(agent)
    of_agent = pl.when(agent == "").then(pl.lit("")).otherwise(pl.concat_str(pl.lit("/"), told_apart))
    owner = pl.when(user.is_null()).then(of_agent).otherwise(pl.concat_str(of_agent, pl.lit("@"), user))
    if not scopes.tags:
        return owner
    tagged = [pl.concat_str(pl.lit(f"{tag}="), tag_value(tag)) for tag in sorted(set(scopes.tags))]
    tags = pl.concat_str(*tagged, separator=",", ignore_nulls=True)
    is_plain = (tags == "") & ~owner.str.contains("#", literal=True)
    return pl.when(is_plain).then(owner).otherwise(pl.concat_str(owner, pl.lit("#"), tags))


def scope_tags(owner: str) -> str:
    """Return the tags of a scope key: `tenant=acme`; '' where it names none."""
    return owner.rpartition("#")[2] if "#" in owner else ""


def tag_value(tag: str) -> pl.Expr:
    """Return what a memory's `tags` say of one tag: `acme` of `tenant:acme` or `tenant=acme`; NULL: nothing.

    Several values stand in order, with `|` between them; in a value `%`, `#`, `,` and `|` are written as in an address.
    """
    stated = pl.element().str.extract(rf"(?s)^\s*{re.escape(tag)}\s*[:=]\s*(.*\S)\s*$")
    for character in "%#,|":
        stated = stated.str.replace_all(character, f"%{ord(character):02X}", literal=True)
    values = pl.col("tags").list.eval(stated.drop_nulls().unique().sort())
    return pl.when(values.list.len() > 0).then(values.list.join("|"))
