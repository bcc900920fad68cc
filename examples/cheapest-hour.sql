-- What is the cheapest hour of each GPU in the cloud?
SELECT gpu_name, provider, instance, pricing_model, gpu_hour_usd
FROM mart.cloud_price
QUALIFY row_number() OVER (PARTITION BY gpu_name ORDER BY gpu_hour_usd, provider, instance) = 1
ORDER BY gpu_hour_usd, gpu_name;
