"""Which figures come from an archived page?"""

from __future__ import annotations

from gpuledger.transform.queries import Rows
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query


def figures(data: DataDir, sha256: str) -> Rows:
    """The figures that were read from the page `sha256`: kind, name, value, and the text as printed."""
    return query(
        data,
        """SELECT 'price' AS figure, l.title AS name, '' AS more,
               s.price::DECIMAL(18, 2)::VARCHAR || ' ' || s.currency AS value, s.price_text AS printed, s.valid_from AS since
           FROM core.price_span s JOIN core.listing l USING (listing_no) WHERE s.snapshot_sha256 = $page
           UNION ALL
           SELECT 'score', gpu_name, ', ' || coalesce(column_name, workload_id), score::DOUBLE::VARCHAR || ' ' || unit,
               score::DOUBLE::VARCHAR, valid_from
           FROM core.benchmark_score WHERE snapshot_sha256 = $page
           UNION ALL
           SELECT 'rate', instance, ', ' || concat_ws(', ', provider, region, pricing_model),
               price::DOUBLE::VARCHAR || ' ' || currency, price_text, valid_from
           FROM core.cloud_offer_history WHERE snapshot_sha256 = $page
           UNION ALL
           SELECT 'token price', hosted_name, ', ' || provider,
               concat(input_price::DOUBLE, ' + ', output_price::DOUBLE, ' ', currency), price_text, valid_from
           FROM core.token_price WHERE snapshot_sha256 = $page
           UNION ALL
           SELECT 'published price', gpu_name, ', ' || period, price::DOUBLE::VARCHAR || ' ' || currency, price_text,
               valid_from
           FROM core.index_price WHERE snapshot_sha256 = $page
           ORDER BY 1, 2, 3, 6""",
        {"page": sha256},
    )
