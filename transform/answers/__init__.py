"""What people ask of the published file, one module a question: the SQL stands here, and a command only reads its options,
asks and prints.
"""
