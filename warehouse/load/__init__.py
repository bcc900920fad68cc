"""Load accepted batches: offers and the other kinds of items have modules of their own, on shared staging and span code."""
