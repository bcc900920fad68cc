"""Read all that a published file holds, as an analyst's own DuckDB does, and print it as JSON. Imports DuckDB only.

python read_everything.py FILE VALUES    where VALUES is a JSON object: an SQL value for each parameter of a macro
"""

from __future__ import annotations

import json
import sys

import duckdb


def main(file: str, questions: dict[str, str]) -> None:
    con = duckdb.connect(file, read_only=True)
    con.execute("SET TimeZone = 'UTC'")
    tables = con.execute(
        """SELECT schema_name || '.' || table_name FROM duckdb_tables() UNION ALL
           SELECT schema_name || '.' || view_name FROM duckdb_views() WHERE NOT internal"""
    ).fetchall()
    found = {}
    for name, source in {**{name: name for (name,) in tables}, **questions}.items():
        result = con.execute(f"SELECT * FROM {source} ORDER BY ALL")
        columns = [column[0] for column in result.description or []]
        found[name] = {"columns": columns, "rows": [[str(value) for value in row] for row in result.fetchall()]}
    scalars = con.execute("SELECT core.ratio_half_up(28.923, 499, 12), core.power_of_ten(3)").fetchone()
    comments = con.execute("SELECT count(comment) FROM duckdb_columns() WHERE NOT internal").fetchone()
    found["functions"] = {"columns": [], "rows": [[str(value) for value in (*(scalars or ()), *(comments or ()))]]}
    sys.stdout.write(json.dumps({"duckdb": duckdb.__version__, "found": found}))


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
