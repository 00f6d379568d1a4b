"""`slowwave publish-to`, and what follows a good night where `[publish_to]` of `settings.toml` names a place."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from slowwave.flows.ask.connection import find_run
from slowwave.flows.kernel.errors import UserError, WrongUsageError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import format_count, terminal_safe
from slowwave.flows.publish_to.target import Files, Postgres, settled_target, target


def run_publish_to(
    settings: Settings, url: str | None, *, schema: str, password_file: str | None, run: str = "current"
) -> None:
    """Copy a publish to a database, folder or bucket (None: the one that `settings.toml` names), and say what was done.

    Raises UserError when nothing is published, the place cannot be understood or reached, or refuses.
    """
    to = settled_target(settings) if url is None else target(url, schema, password_file)
    if to is None:
        message = "name a place, such as postgresql://USER@HOST/DATABASE or a folder; or state it as [publish_to] url"
        raise WrongUsageError(message)
    sys.stdout.write(f"{terminal_safe(_publish_run(settings, to, run, _note))}\n")
    sys.stdout.flush()


def published_after_night(settings: Settings, say: Callable[[str], None]) -> bool:
    """Copy what is current to where `settings.toml` says, if it says so and has it not yet; whether that went well.

    A night with nothing new so does what the one before could not. What goes wrong is said, and harms nothing: the
    serving file is published already.
    """
    try:
        to = settled_target(settings)
        done = _publish_run(settings, to, "current", say, unless_there=True) if to is not None else ""
        if done:
            say(done)
    except (UserError, OSError) as error:
        say(f"what is published was not copied: {error}; the next night tries again, or `slowwave publish-to`")
        return False
    return True


def _publish_run(
    settings: Settings, to: Postgres | Files, run: str, note: Callable[[str], None], *, unless_there: bool = False
) -> str:
    """What was done, in words; '' where it is there already."""
    path = find_run(settings, run)
    began = time.monotonic()
    if isinstance(to, Postgres):
        from slowwave.flows.publish_to.postgres import publish_to_postgres

        rows = publish_to_postgres(path, to, note, unless_there=unless_there)
        where = f"the schema {to.schema} of {to.url}"
    else:
        from slowwave.flows.publish_to.files import publish_to_files

        rows = publish_to_files(path, to, unless_there=unless_there)
        where = to.url
    if not rows:
        return ""
    told = f"{format_count(len(rows), 'table')} with {format_count(sum(rows.values()), 'row')}"
    return f"published run {path.stem} to {where}: {told} in {time.monotonic() - began:.1f} s"


def _note(text: str) -> None:
    sys.stderr.write(f"slowwave: {terminal_safe(text)}\n")
