"""Changes of the schema that the data dictionary cannot express: one file each, `<version>_<what>.sql`, versions from 2 on.

A table or a column that an old file lacks is added from the dictionary and needs no script. Scripts are for other changes: a
column is renamed or dropped, a type changes, or existing rows need a computed value. A script runs once, on the work file of
the first run of the new program, before missing tables and columns are added.
"""
