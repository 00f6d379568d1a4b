"""The type of a param that names a method: only those are taken that the registry knows for it."""

from __future__ import annotations

from pydantic import AfterValidator

from slowwave.transforms.core.methods.registry import check_choice


def chosen_method(param: str) -> AfterValidator:
    """Of the param with this full name, such as `evidence.echo_method`: an id that it may not name is refused."""

    def check(method_id: str) -> str:
        return check_choice(param, method_id)

    return AfterValidator(check)
