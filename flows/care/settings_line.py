"""What `slowwave doctor` says of `settings.toml`; its engine, and whom to notify, have lines of their own."""

from __future__ import annotations

from dataclasses import replace

from slowwave.flows.imports.importer import source_settings
from slowwave.flows.imports.sources import SOURCES
from slowwave.flows.kernel.checks import CheckLine, run_check
from slowwave.flows.kernel.errors import UserError, WrongUsageError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.land.readings import keeps_unknown
from slowwave.flows.lifetime.retention import read_retention_rules
from slowwave.flows.publish_to.target import settled_target


def settings_line(settings: Settings) -> CheckLine:
    """Whether what a night reads there can be used: a mistake is found before a night is stopped by it."""
    if not settings.settings_file.exists():
        return CheckLine("settings", "ok", "all at their defaults")
    try:
        read_retention_rules(settings)
        keeps_unknown(settings)
        source_settings(settings, SOURCES[0].name)
        settled_target(settings)
    except UserError as error:
        return CheckLine("settings", "error", str(error), f"mend {settings.settings_file}")
    return CheckLine("settings", "ok", f"{settings.settings_file} can be used")


def unusable_lines(settings: Settings) -> list[CheckLine]:
    """Return a line for each of `params.toml` and `settings.toml` that says what no command can use; none if all is."""
    lines = [
        run_check("params", lambda: _params_line(settings)),
        run_check("settings", lambda: settings_line(settings)),
    ]
    # rows land and what is published can be read all the same
    return [replace(line, state="warn") for line in lines if line.state != "ok"]


def _params_line(settings: Settings) -> CheckLine:
    try:
        settings.params()
    except WrongUsageError as error:
        return CheckLine("params", "warn", str(error), f"mend {settings.params_file}: no night is published until then")
    return CheckLine("params", "ok", "")
