"""The SQL of every table, view and macro that is built, each beside its description; `transform/build/graph.py` reads them."""

from pathlib import Path

FOLDER = Path(__file__).parent
