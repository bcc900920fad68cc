-- One rule for today and for the record of what it said in the past. Chosen on 7,272 Mondays of 162 cards in Korea, August 2020 to
-- July 2023: 37% of all cost at least 2% less 30 days later, 56% of those with a fall of a tenth, 25% of those near their lowest
-- that do not fall. A place among the prices of a year said nothing or the opposite: of the dearest fifth 26% fell.
CASE
    WHEN days < 30 THEN 'unknown'
    WHEN change_30d <= -0.1 THEN 'wait'
    WHEN above_low_30d < 0.01 AND change_30d > -0.05 THEN 'buy'
    ELSE 'neutral'
END
