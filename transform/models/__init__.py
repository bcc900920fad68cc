"""Has a folder for every table, view and macro that is built. `transform/build/graph.py` reads the folders."""
