"""Counts the models into `transform/seeds/counted.json`: `make generated`. A test says when it is due."""

from __future__ import annotations

import json

from gpuledger.transform.seeds import counted, models


def main() -> None:
    """Count, and write the file."""
    text = ",\n".join(
        f'"{table}": [\n' + ",\n".join(json.dumps(row) for row in table_rows) + "\n]"
        for table, table_rows in models.rows().items()
    )
    counted.FILE.write_text(f'{{"version": "{counted.version()}", "tables": {{\n{text}}}}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
