-- The cards about which we know more than their data sheet.
WITH known AS (
    SELECT gpu_id FROM core.offer
    UNION SELECT gpu_id FROM mart.ranking
    UNION SELECT gpu_id FROM mart.price_daily
    UNION SELECT gpu_id FROM mart.cloud_price
)
SELECT
    g.gpu_id, g.gpu, g.vendor, g.architecture, g.segment, g.form_factor, g.memory_gb, g.memory_type, g.memory_bandwidth_gb_s,
    g.fp32_tflops, g.tensor_fp16_tflops, g.tdp_w, g.released_on, g.msrp_usd, g.msrp_source,
    t.hint, t.reason AS hint_reason, t.change_7d, t.change_30d, t.change_90d, t.percentile_1y, t.all_time_low_usd,
    t.all_time_low_on, t.hint_given, t.hint_was_right, t.hint_right_on_any
FROM core.gpu g
SEMI JOIN known USING (gpu_id)
LEFT JOIN mart.price_trend t ON t.gpu_id = g.gpu_id
ORDER BY g.gpu
