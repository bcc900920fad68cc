"""Load accepted batches: one module a kind of item, on the shared span and staging code."""
