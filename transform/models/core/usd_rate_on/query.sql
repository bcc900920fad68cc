-- The rate of the dollar is 1. A rate that is more than ten days old does not count, so amounts in that currency have no dollar
-- amount. Otherwise they might be converted with a rate of another year.
CASE WHEN currency = 'USD' THEN 1.0::DOUBLE WHEN rate_day >= day - 10 THEN rate END
