SELECT currency, usd_rate, fx_day FROM core.fx_usd ORDER BY currency
