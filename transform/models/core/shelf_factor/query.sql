-- Within one market, prices are compared as its shops print them. A quote without VAT must be raised by the tax first.
CASE WHEN NOT stated AND by_custom THEN 1 + rate::DOUBLE ELSE 1 END
