"""The contents of a backup, as far as its files were fetched: its volumes, then its objects, by namespace."""

from __future__ import annotations

from foretop.widgets.paragraphs import Paragraph, paragraph, span
from foretop_core.rules import humanize
from foretop_core.rules.facts.contents_facts import (
    FetchedFiles,
    NamespaceContents,
    VolumeFate,
    backup_contents,
    contents_total,
    told_line,
)
from foretop_core.tables.engine.status_glyphs import Tone

_MOST_VOLUMES, _MOST_NAMESPACES = 1_000, 500


def contents_paragraphs(files: FetchedFiles) -> list[Paragraph]:
    """Lists its volumes and its objects, last what could not be fetched; nothing where nothing of it was asked for."""
    info = files.volumes.info if files.volumes is not None else None
    contents = backup_contents(info, files.resources)
    total = contents_total(contents)
    paragraphs: list[Paragraph] = []
    if info is not None:
        others = f"; {humanize.count(info.others, 'volume')} without a claim" if info.others else ""
        text = f"{total.volumes_text or 'none of a claim'}{others}, by volume info"
        paragraphs += [paragraph(""), paragraph(text, label="Volumes"), *_volumes(contents)]
    if files.resources is not None:
        spaces = humanize.count(sum(bool(one.namespace) for one in contents), "namespace")
        text = f"{humanize.count(total.objects, 'object')} of {humanize.count(len(total.kinds), 'kind')} in {spaces}"
        paragraphs += [paragraph(""), paragraph(text, label="Objects"), *_objects(contents)]
    if files.lacking:
        paragraphs.append(paragraph(""))
    return [*paragraphs, *(paragraph(f"{problem}.", Tone.WARN) for problem in files.lacking)]


def _volumes(contents: tuple[NamespaceContents, ...]) -> list[Paragraph]:
    lines: list[Paragraph] = []
    number = 0
    for one in contents:
        shown = one.volumes[: max(0, _MOST_VOLUMES - number)]
        number += len(one.volumes)
        if shown:
            lines.append(Paragraph((span(f"  {one.namespace}  ", bold=True), span(one.volumes_text, Tone.DIM))))
        for volume in shown:
            tone = Tone.PLAIN if volume.fate is VolumeFate.TAKEN else Tone.WARN
            lines.append(Paragraph((span(f"    {told_line(volume)}", tone),), indent=6))
    if number > _MOST_VOLUMES:
        lines.append(paragraph(f"and {number - _MOST_VOLUMES:,} more volumes", Tone.DIM))
    return lines


def _objects(contents: tuple[NamespaceContents, ...]) -> list[Paragraph]:
    spaces = [one for one in contents if one.kinds]
    lines = [
        Paragraph((span(f"  {one.namespace or 'cluster-scoped'}  ", bold=True), span(one.kinds_text())), indent=4)
        for one in spaces[:_MOST_NAMESPACES]
    ]
    if len(spaces) > _MOST_NAMESPACES:
        lines.append(paragraph(f"and {len(spaces) - _MOST_NAMESPACES:,} more namespaces", Tone.DIM))
    return lines
