"""The price gate: a price that moved too far to be believed at once is held until it is seen again.

The old price stands meanwhile, marked as not confirmed. One bad night (a parser that lost a digit, a shop's slip, half a
page) therefore never reaches a decision table, and a real move of the market arrives one run late. All comparisons are in
the listing's own currency, so an exchange rate moves nothing.

`rules` says what is held; it knows no database. `tables` asks it about what is staged in one, `shops` and `clouds` say where
their evidence is, and `transform.walk` asks it about many nights of a bulk load.
"""
