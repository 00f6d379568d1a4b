"""Which engine builds, where it is, and how much one of its workers may hold: `[engine]` of `settings.toml`.

```toml
[engine]
engine = "dask"
workers = 4
memory = "4GB"
timeout_seconds = 3600
```
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NoReturn, cast, get_args

from slowwave.flows.kernel.errors import WrongUsageError
from slowwave.flows.kernel.settings import Settings, size_in_bytes

EngineName = Literal["local", "dask", "ray"]
MEMORY = 4 * 10**9
LEAST_MEMORY = 2 * 10**9
_SECONDS = 3600.0
_WORKERS = 2
_MOST_WORKERS = 1_000
_KNOWN = {"engine", "address", "workers", "memory", "timeout_seconds"}


@dataclass(frozen=True)
class EngineSettings:
    """An engine.

    Args:
        name: `local` computes in this process and starts nothing.
        address: of a scheduler that runs already; '': workers are started on this machine, and ended.
        workers: how many of them.
        memory: bytes that one worker, or this process, should stay below while it builds: its tasks are made so large.
        seconds: that one task may take before it is tried elsewhere.
    """

    name: EngineName = "local"
    address: str = ""
    workers: int = 1
    memory: int = MEMORY
    seconds: float = _SECONDS


def engine_settings(
    settings: Settings, name: str | None = None, address: str | None = None, workers: int | None = None
) -> EngineSettings:
    """The engine of a command: what it names, else what `settings.toml` says.

    Raises WrongUsageError where they contradict each other or have no meaning, UserError where the file is no TOML.
    """
    stated = settings.read_section("engine", _KNOWN)
    where = f"{settings.settings_file}, [engine]"
    chosen = _one_of(name, "") if name is not None else _one_of(stated.get("engine", "local"), f"{where}: ")
    is_stated = name is None or name == stated.get("engine")  # else what is stated is of another engine
    at = address if address is not None else stated.get("address", "") if is_stated else ""
    count = workers if workers is not None else stated.get("workers") if is_stated else None
    if not isinstance(at, str):
        _refuse(f"{where}: address is a text such as tcp://scheduler:8786")
    if count is not None and (isinstance(count, bool) or not isinstance(count, int) or not 0 < count <= _MOST_WORKERS):
        said = "" if workers is not None else f"{where}: "
        _refuse(f"{said}the number of workers is a whole number from 1 to {_MOST_WORKERS:,}, not {count!r}")
    if chosen == "local" and (at or count is not None):
        _refuse("the engine `local` works in this process: name --engine dask or ray to use workers or an address")
    if at and count is not None:
        _refuse(f"the cluster at {at} has its own workers: leave out their number, or the address")
    return EngineSettings(
        name=chosen,
        address=at,
        workers=1 if chosen == "local" else count or _WORKERS,
        memory=_memory(stated.get("memory"), where),
        seconds=_seconds(stated.get("timeout_seconds", _SECONDS), where),
    )


def _one_of(name: Any, where: str) -> EngineName:  # noqa: ANN401 - whatever is stated
    if name not in get_args(EngineName):
        *most, last = get_args(EngineName)
        _refuse(f"{where}there is no engine {name!r}: use {', '.join(most)} or {last}")
    return cast("EngineName", name)


def _memory(stated: Any, where: str) -> int:  # noqa: ANN401 - whatever is stated
    if stated is None:
        return MEMORY
    size = size_in_bytes(stated) if isinstance(stated, str) else None
    if size is None or size < LEAST_MEMORY:
        _refuse(f'{where}: memory is a size of 2GB or more, such as "4GB"')
    return size


def _seconds(stated: Any, where: str) -> float:  # noqa: ANN401 - whatever is stated
    if isinstance(stated, bool) or not isinstance(stated, int | float) or stated <= 0:
        _refuse(f"{where}: timeout_seconds is a number of seconds above 0")
    return float(stated)


def _refuse(message: str) -> NoReturn:
    raise WrongUsageError(message)
