-- A shop that says nothing prints as its market does; a vendor who quotes and says nothing may have meant either.
CASE coalesce(stated, CASE WHEN kind_of_seller IS DISTINCT FROM 'quote' THEN by_custom END)
    WHEN true THEN 1 / (1 + rate::DOUBLE)
    WHEN false THEN 1
END
