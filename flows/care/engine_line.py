"""What `slowwave doctor` says of the engine that the settings name: is it installed, does its cluster answer."""

from __future__ import annotations

from slowwave.flows.engines.cluster import require_engine
from slowwave.flows.engines.engine import opened_cluster
from slowwave.flows.engines.settings import engine_settings
from slowwave.flows.kernel.checks import CheckLine
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import format_count


def engine_line(settings: Settings) -> CheckLine:
    """Whether the engine of the settings is there, and its cluster answers and has workers."""
    chosen = engine_settings(settings)
    memory = f"{chosen.memory / 1e9:g} GB each"
    try:
        require_engine(chosen)
        if chosen.address:
            with opened_cluster(chosen) as cluster:
                places = cluster.places()
            todo = "start workers there, or no night can be built"
            says = f"{chosen.name} answers at {chosen.address}: {format_count(places, 'task')} at once, {memory}"
            return CheckLine("engine", "ok" if places else "error", says, "" if places else todo)
    except UserError as error:
        todo = f"do what this says, or change [engine] in {settings.settings_file}"
        return CheckLine("engine", "error", str(error), todo)
    if chosen.name == "local":
        return CheckLine(
            "engine", "ok", f"local: nights are built in their own process, {memory.removesuffix(' each')}"
        )
    return CheckLine(
        "engine", "ok", f"{chosen.name}: {format_count(chosen.workers, 'worker')} are started here, {memory}"
    )
