"""The files in which people have measurements: what each format says, and what it does not.

A module a format; `read.py` tells them apart. Each gives `Figure`s, which leave open what the file does not say, most often
the GPU, and says why it takes a row for no figure.
"""
