-- Cards can share only a part of the work (Amdahl 1967), and each layer exchanges the hidden state twice in a ring, with 16 bits
-- for each value (Shoeybi et al. 2019; Patarasuk & Yuan 2009). tests/transform/test_model_fit.py checks that the result is the same
-- as in transform/speed/predict.py.
sequences / (
    sequences / one_card_rate * (1 - core.assumed('parallel_fraction') + core.assumed('parallel_fraction') / cards)
    + CASE WHEN cards = 1 THEN 0 ELSE
        2 * model_layers * (
            steps * core.assumed('link_latency_us') * 1e-6
            + 2 * (cards - 1) / cards * 2 * model_hidden * sequences / (link_gb_a_second * 1e9)
        )
    END
)
