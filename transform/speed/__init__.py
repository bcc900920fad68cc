"""How fast one or several cards run a model: bounds from data sheets, and from measurements how near cards come to them."""
