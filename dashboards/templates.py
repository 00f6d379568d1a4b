"""The HTML of report and dashboard: every value that is put into a template is escaped."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("slowwave.dashboards"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def rendered(template: str, **values: object) -> Markup:
    """A template of `templates/` with these values; only what is Markup already is taken as it stands."""
    return Markup(_environment().get_template(template).render(values))  # noqa: S704 - escaped by the environment
