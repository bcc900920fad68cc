"""Readers of the files in which people have measurements: what each format says, and what it leaves open.

There is one module for each format, and `read.py` recognises the format. Each reader gives `Figure`s, which leave open what
the file does not say, most often the GPU. For each row that is not a figure it says why.
"""
