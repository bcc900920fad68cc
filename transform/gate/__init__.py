"""The price gate. It holds a price that moved too far to be believed at once, until the price is seen again.

Meanwhile the old price stays valid and is marked as not confirmed. So one bad night (a parser that lost a digit, a mistake
of a shop, half a page) never reaches a table for decisions, and a real move of the market arrives one run late. All
comparisons are in the listing's own currency, so exchange rates have no effect.

`rules` decides what is held and does not use the database. `tables` finds the few rows of a night that may be held, applies
the rules to them, and stores the held prices. `shops` and `clouds` define the SQL that finds their evidence.
"""
