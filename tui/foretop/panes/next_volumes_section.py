"""The volumes that the next run of a schedule takes and leaves out, on its page and in the dialogs that write one."""

from __future__ import annotations

from foretop.widgets.paragraphs import Paragraph, paragraph
from foretop_core.rules.facts.volume_facts import NextVolumes
from foretop_core.tables.engine.status_glyphs import Tone


def volume_paragraphs(found: NextVolumes | None) -> list[Paragraph]:
    """A sentence, and a line each for the first that are left out; nothing where nothing is known."""
    if found is None:
        return []
    tone = Tone.BAD if found.refused else Tone.PLAIN if found.is_chosen else Tone.WARN
    told = (paragraph(f"{one}.", label=" ", yields=True) for one in found.lines)
    return [paragraph(found.sentence, tone, label="Volumes"), *told]
