-- Today's rates are those of the newest day with rates. A currency that is no longer in the bank's file has no rate. Without
-- newer ones they stay, with their day, and one of which none was ever read has the rate that the program brings.
SELECT d.currency, d.usd_rate, d.fx_day FROM core.fx_usd_daily d JOIN core.current_rate c ON c.currency = d.currency AND c.fx_day = d.fx_day
UNION ALL
SELECT b.currency, b.usd_rate, b.fx_day FROM core.brought_rate b ANTI JOIN core.fx_usd_daily d ON d.currency = b.currency
UNION ALL
SELECT 'USD', 1.0, NULL
