"""Whether a disk has room for what a run is about to write: refused before, it leaves nothing half-done."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.store import nearest_folder
from slowwave.flows.lake.current import current_run
from slowwave.flows.lake.files import LakeFile
from slowwave.flows.lake.lifetime.tombstones import is_erasing
from slowwave.flows.land.inbox import Delivery
from slowwave.flows.publish.plan import BuildPlan
from slowwave.transforms.landing.tables import LANDED, Interactions

# What is written aside stands beside what it replaces for a moment, and sizes are estimates.
_SAFETY = 2


_BEGUN = "(rows were erased; the next night, or the same command, publishes without them and erases the rest)"
_UNCHANGED = "(nothing was changed)"


def require_room(doing: str, wanted: Mapping[Path, int], says: str = _UNCHANGED) -> None:
    """Raises UserError, which `says` what was done, when a disk has less free than twice what is to be written.

    `wanted`: bytes by folder.
    """
    of_disk: dict[int, tuple[Path, int]] = {}
    for path, size in wanted.items():
        folder = nearest_folder(path)
        disk = folder.stat().st_dev
        of_disk[disk] = folder, of_disk.get(disk, (folder, 0))[1] + _SAFETY * size
    for folder, needed in of_disk.values():
        free = shutil.disk_usage(folder).free
        if free < needed:
            raise UserError(f"{_too_little(doing, needed, folder, free)} {says}")


def _too_little(doing: str, needed: int, folder: Path, free: int) -> str:
    return (
        f"{doing} needs about {_megabytes(needed)} free on the disk of {folder}, and {_megabytes(free)} are: "
        "free some, for example by `slowwave lake prune --keep 1`"
    )


def room_to_land(lake: Path, deliveries: Iterable[Delivery]) -> tuple[list[Delivery], list[str]]:
    """The files to land, without those that are by themselves too large for the disk, and what is said of these.

    Raises UserError when the disk of the lake has no room for twice the others together.
    """
    fitting: list[Delivery] = []
    too_large: list[str] = []
    sizes: list[int] = []
    folder = nearest_folder(lake)
    free = shutil.disk_usage(folder).free
    for delivery in deliveries:
        size = _size(delivery.path) if delivery.path else 0
        if _SAFETY * size > free:
            why = _too_little("landing", _SAFETY * size, folder, free)
            too_large.append(f"{delivery.source} stays where it is: {why}")
        else:
            fitting.append(delivery)
            sizes.append(size)
    require_room("landing", {lake: sum(sizes)}, _describe_progress(lake))
    return fitting, too_large


def room_to_publish(settings: Settings, plan: BuildPlan) -> None:
    """Raises UserError when a disk has no room for twice the next serving file and the evidence of the days to build.

    By the sizes at hand: the file will be as large as the one before, or as what has landed; a day's evidence as its
    interactions.
    """
    current = current_run(settings)
    landed = plan.log.files(Interactions)
    evidence = sum(_lake_size(file) for day in plan.to_build for file in landed.get(day.day, []))
    files = (file for table in LANDED for of_day in plan.log.files(table).values() for file in of_day)
    serving = _size(current) if current else sum(_lake_size(file) for file in files)
    wanted = {settings.lake_folder: evidence, settings.serving: serving}
    require_room("publishing", wanted, _describe_progress(plan.log.lake.root))


def _describe_progress(lake: Path) -> str:
    """What was done before there was no room."""
    return _BEGUN if is_erasing(lake) else _UNCHANGED


def _lake_size(file: LakeFile) -> int:
    """Size of a file of the lake; of what is gone, 0."""
    try:
        return file.size
    except OSError:
        return 0


def _size(path: Path) -> int:
    """Size of a regular file; of what is gone or none, 0."""
    try:
        return path.stat().st_size if not path.is_fifo() else 0
    except OSError:
        return 0


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
