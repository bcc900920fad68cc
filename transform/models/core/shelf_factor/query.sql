-- Within one market prices are compared as its shops print them: a quote without VAT is dearer than it looks beside them.
CASE WHEN NOT stated AND by_custom THEN 1 + rate::DOUBLE ELSE 1 END
