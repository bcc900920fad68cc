"""Reads bar charts that are published as pictures, and checks each number against its own bar.

`apart.py` is the entry point. It starts a separate process (`python -m gpuledger.extract.charts`), because the models take a
gigabyte of memory while they read, and a broken picture may crash that process. `outcome.py` has the classes of the result.
The other modules run in the separate process and need the packages of `gpuledger[charts]`.
"""
