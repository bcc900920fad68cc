"""The price gate: a price that moved too far to be believed at once is held until it is seen again.

The old price stands meanwhile, marked as not confirmed. One bad night (a parser that lost a digit, a shop's slip, half a
page) therefore never reaches a decision table, and a real move of the market arrives one run late. All comparisons are in
the listing's own currency, so an exchange rate moves nothing.

`rules` says what is held; it knows no database. `tables` finds the few rows of a night that may be held, asks the rules
about them and keeps what they hold; `shops` and `clouds` say where their evidence is.
"""
