-- Which offers of a card do not count, and why?
SELECT title, price, currency, exclusion
FROM core.offer
WHERE gpu_id = 'nvidia-geforce-rtx-3090' AND exclusion IS NOT NULL
ORDER BY exclusion, title;
