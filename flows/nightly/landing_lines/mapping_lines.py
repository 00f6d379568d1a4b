"""What a landing says of the mapping that its command named: how many rows took each field, and how many lacked it."""

from __future__ import annotations

from dataclasses import dataclass

from slowwave.flows.kernel.progress import Lines
from slowwave.flows.kernel.terminal import format_count, quote_shortened
from slowwave.flows.land.report import LandingReport
from slowwave.transforms.landing.mapping.rules import FieldMapping


@dataclass(frozen=True)
class MappingUse:
    """How many of the rows that were read took a field from its source, lacked the source, or kept their own value."""

    field: str
    source: str
    took: int
    lacked: int
    kept_own: int


def mapping_uses(report: LandingReport, mapping: FieldMapping | None) -> list[MappingUse]:
    """Return the use of each rule of a mapping, in its order."""
    found = report.unknown
    return [
        MappingUse(
            field=rule.field,
            source=rule.path or f"={rule.constant}",
            took=found.took[rule.field],
            lacked=found.lacked[rule.field],
            kept_own=found.mapped - found.took[rule.field] - found.lacked[rule.field],
        )
        for rule in (mapping.rules if mapping else ())
    ]


def mapping_lines(report: LandingReport, mapping: FieldMapping | None) -> Lines:
    """Return what the screen says of a mapping; of files that had landed before, that no row of them was read."""
    if mapping is None:
        return []
    said = []
    if report.unknown.mapped:
        said += [_sentence(use) for use in mapping_uses(report, mapping)]
    if report.left_out:
        rows = format_count(report.left_out, "row was", "rows were")
        said.append(f"where: {rows} left out, and can be landed from the quarantine by another mapping")
    if report.already:
        files = format_count(len(report.already), "file has", "files have")
        said.append(
            f"{files} landed before, such as {quote_shortened(report.already[0])}: the mapping was not applied to them"
        )
    return [("mapping" if not at else "", text) for at, text in enumerate(said)]


def _sentence(use: MappingUse) -> str:
    parts = [f"{format_count(use.took, 'row')} took it"]
    if use.lacked:
        parts.append(f"{use.lacked:,} had no {quote_shortened(use.source)}")
    if use.kept_own:
        parts.append(f"{use.kept_own:,} kept their own {use.field}")
    return f"{use.field}={use.source}: {', '.join(parts)}"
