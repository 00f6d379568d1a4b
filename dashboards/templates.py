"""The HTML of report and dashboard: every value that is put into a template is escaped."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape


def with_code(text: str) -> Markup:
    """Text escaped, with what stands between backticks set as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # one is left over
        return escape(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if number % 2 else escape(part) for number, part in enumerate(parts)
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("slowwave.dashboards"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["with_code"] = with_code
    return environment


def rendered(template: str, **values: object) -> Markup:
    """A template of `templates/` with these values; only what is Markup already is taken as it stands."""
    return Markup(_environment().get_template(template).render(values))  # noqa: S704 - escaped by the environment
