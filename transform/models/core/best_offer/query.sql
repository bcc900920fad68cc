FROM core.market_best_offer WHERE in_market = (SELECT market FROM core.home_market)
