-- A card sold as 24 GB holds 24 × 2^30 bytes; each gives some of it to driver and runtime.
-- tests/transform/test_model_fit.py holds it equal to usable_bytes in transform/buying/parallel.py.
greatest(0, (card_gb * 1.073741824 - core.assumed('device_overhead_gb')) * cards)
