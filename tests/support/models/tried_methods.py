"""Methods that are tried beside the released ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

from slowwave.transforms.core.methods.registry import method, register_candidate


@contextmanager
def tried(before: str, *method_ids: str, **other: Any) -> Iterator[None]:
    """Inside, there are methods of these ids too: like `before`, but for what is `other`."""
    with ExitStack() as stack:
        for method_id in method_ids:
            stack.enter_context(register_candidate(replace(method(before), id=method_id, **other)))
        yield
