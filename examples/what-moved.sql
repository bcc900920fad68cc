-- What changed last, by how much?
SELECT c.changed_at, l.title, c.change, c.old_price, c.new_price, c.currency
FROM core.price_change c
JOIN core.listing l ON l.listing_id = c.listing_id
ORDER BY c.changed_at DESC, abs(c.change_ratio) DESC NULLS LAST, l.title
LIMIT 20;
