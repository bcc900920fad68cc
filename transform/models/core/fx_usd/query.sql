-- The rate of today is that of the newest day with one. A currency that has left the bank's file has no rate, and where no rate
-- of the last ten days is known, only dollars have one.
SELECT d.currency, d.usd_rate, d.fx_day FROM core.fx_usd_daily d JOIN core.current_rate c ON c.currency = d.currency AND c.fx_day = d.fx_day
UNION ALL
SELECT 'USD', 1.0, NULL
