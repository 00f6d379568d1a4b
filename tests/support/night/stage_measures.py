"""What the stages of a night take: CPU seconds, bytes read and written, and the most memory, as Linux tells them."""

from __future__ import annotations

from pathlib import Path

from slowwave.flows.kernel.stage_costs import StageCosts

_PROCESS = Path("/proc/self")


class StageMeasures(StageCosts):
    """As StageCosts; besides, by stage and by step, bytes of memory held at the most, bytes read and bytes written."""

    def __init__(self) -> None:
        super().__init__()
        self.peak: dict[str, int] = {}
        self.read: dict[str, int] = {}
        self.written: dict[str, int] = {}
        self._before = _bytes_moved()
        peak_bytes()

    def enter(self, stage: str, step: str = "") -> None:
        """As in StageCosts."""
        self._note()
        super().enter(stage, step)

    def leave(self) -> None:
        """As in StageCosts."""
        self._note()
        super().leave()

    def _note(self) -> None:
        peak, now = peak_bytes(), _bytes_moved()
        names = dict.fromkeys(name for name in self._open[-1] if name) if self._open else ["else"]
        for name in names:
            self.peak[name] = max(self.peak.get(name, 0), peak)
            for place, moved in enumerate((self.read, self.written)):
                moved[name] = moved.get(name, 0) + now[place] - self._before[place]
        self._before = now


def _bytes_moved() -> tuple[int, int]:
    """What this process has read and written so far, from a disk or its cache."""
    told = dict(line.split(": ") for line in (_PROCESS / "io").read_text().splitlines())
    return int(told["rchar"]), int(told["wchar"])


def peak_bytes() -> int:
    """The most that was held since this was last asked."""
    (line,) = (line for line in (_PROCESS / "status").read_text().splitlines() if line.startswith("VmHWM"))
    (_PROCESS / "clear_refs").write_text("5")
    return int(line.split()[1]) * 1024
