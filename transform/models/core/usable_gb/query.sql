-- Each card gives some of what its driver shows to context, libraries and buffers; a server takes nine tenths at most, and more
-- where cards exchange. tests/transform/test_model_fit.py holds it equal to usable_bytes in transform/speed/memory.py.
greatest(0, cards * (
    driver_gb * CASE WHEN on_server THEN 0.9 ELSE 1 END
    - core.assumed('device_overhead_gb') - CASE WHEN NOT on_server THEN 0 WHEN cards = 1 THEN 0.2 ELSE 0.9 END
))
