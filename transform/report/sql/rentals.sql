SELECT
    gpu_id, provider, region, instance, gpu_name, gpu_count, pricing_model, comparability, instance_hour_usd, own_total_usd,
    rent_total_usd, hours_of_use, break_even_hours, cheaper
FROM mart.rent_vs_buy
QUALIFY row_number() OVER (PARTITION BY gpu_id ORDER BY rent_total_usd, offer_id) <= $most
ORDER BY gpu_id, rent_total_usd, offer_id
