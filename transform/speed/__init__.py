"""How fast a card, or several, run a model: bounds from the data sheet, and what measurements say of the way to them."""
