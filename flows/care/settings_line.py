"""What `slowwave doctor` says of `settings.toml`; its engine, and whom to notify, have lines of their own."""

from __future__ import annotations

from slowwave.flows.imports.importer import source_settings
from slowwave.flows.imports.sources import SOURCES
from slowwave.flows.kernel.checks import CheckLine
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.land.readings import keeps_unknown
from slowwave.flows.nightly.retention import retention
from slowwave.flows.publish_to.target import settled_target


def settings_line(settings: Settings) -> CheckLine:
    """Whether what a night reads there can be used: a mistake is found before a night is stopped by it."""
    if not settings.settings_file.exists():
        return CheckLine("settings", "ok", "all at their defaults")
    try:
        retention(settings)
        keeps_unknown(settings)
        source_settings(settings, SOURCES[0].name)
        settled_target(settings)
    except UserError as error:
        return CheckLine("settings", "error", str(error), f"mend {settings.settings_file}")
    return CheckLine("settings", "ok", f"{settings.settings_file} can be used")
