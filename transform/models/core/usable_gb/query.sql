-- On each card, context, libraries and buffers take some of the memory that its driver shows. A server uses at most nine tenths,
-- and needs more buffers if cards exchange data. tests/transform/test_model_fit.py checks that the result is the same as that of
-- usable_bytes in transform/speed/memory.py.
greatest(0, cards * (
    driver_gb * CASE WHEN on_server THEN 0.9 ELSE 1 END
    - core.assumed('device_overhead_gb') - CASE WHEN NOT on_server THEN 0 WHEN cards = 1 THEN 0.5 ELSE 0.8 END
))
