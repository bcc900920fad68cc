-- A dollar is a dollar, and the rate of more than ten days before is none: an amount in that currency then has no dollar amount,
-- and not one at a rate of another year.
CASE WHEN currency = 'USD' THEN 1.0::DOUBLE WHEN rate_day >= day - 10 THEN rate END
