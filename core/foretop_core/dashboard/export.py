"""The table on the screen as a file: what is filtered is left out, the order is the screen's."""

from __future__ import annotations

import csv
import json
from enum import Enum
from io import StringIO
from pathlib import Path

from foretop_core.background import in_thread
from foretop_core.dashboard.table_models import TableModel
from foretop_core.own_files import create_file
from foretop_core.tables.engine.json_items import as_list


class ExportFormat(Enum):
    CSV = "csv"
    JSON = "json"


async def save(rows: TableModel, name: str, form: ExportFormat, folder: Path | None = None) -> tuple[Path, int]:
    """Writes to a new file in the folder that foretop was started in; an older one is never overwritten."""
    stem, count = f"foretop-{name}-{rows.state.clock():%Y%m%dT%H%M%SZ}", len(rows.table)
    out = StringIO(newline="")
    if form is ExportFormat.JSON:
        json.dump(as_list([rows.item(key) for key, _ in rows.ordered()]), out, indent=2, ensure_ascii=False)
        out.write("\n")
    else:
        writer = csv.writer(out)
        writer.writerow(["state", *(column.title for column in rows.columns)])
        for row in (rows.row(key, entry) for key, entry in rows.ordered()):
            writer.writerow([row.mark.name.lower(), *(_harmless(cell.text) for cell in row.cells)])
    text = out.getvalue()
    return await in_thread(lambda: _write(folder or Path.cwd(), stem, form.value, text)), count


def _write(folder: Path, stem: str, suffix: str, text: str) -> Path:
    path = _free(folder, stem, suffix)
    with create_file(path) as file:
        file.write(text)
    return path


def _harmless(text: str) -> str:
    """A spreadsheet takes some first letters for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "@") or (text[:1] == "-" and len(text) > 1) else text


def _free(folder: Path, stem: str, suffix: str) -> Path:
    path, number = folder / f"{stem}.{suffix}", 1
    while path.exists():
        number += 1
        path = folder / f"{stem}-{number}.{suffix}"
    return path
