"""Which GPU a title means. Read it in this order, which is the way of a title:

`text` and `words` split it into pieces that are spelt alike. `reader` finds in them the cards of the `index`, memory sizes
and kinds of products. `products` and `systems` say what it is if it is no card. `choosing` leaves, of the cards that it can
mean, those that nothing contradicts. `resolver` puts these steps in their order, after a person's `pins` and the `aliases`.
`assign` gives the answers to what was loaded. In doubt the answer is "ambiguous", and never a guess.
"""
