"""Changes of the schema that the data dictionary cannot say: one file each, `<version>_<what>.sql`, versions from 2 on.

A table or a column that is missing in an old file is added from the dictionary and needs no script. A script is for the
rest: a column renamed or dropped, a type changed, a value worked out for the rows that are there. It runs once, on the
work file of the first run of the new program, after missing schemas and before missing tables and columns are added.
"""
