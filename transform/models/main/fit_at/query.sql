-- The same arithmetic as transform/speed/predict.py, which `gpuledger predict` and `buy` ask; tests/transform/test_model_fit.py
-- holds the two together. What follows from a card's own figures and the calibration stands in core.gpu_speed.
-- A measured speed stands beside the bound of an empty cache: benchmarks write a few hundred tokens, and at a longer context
-- the same speed may be above what the card can reach.
WITH measured AS (
    SELECT w.model_id, w.precision, r.gpu_id, r.score::DOUBLE AS tokens_per_s
    FROM core.workload w JOIN mart.ranking r ON r.workload_id = w.workload_id
    WHERE w.output = 'token'
    -- A model may be a workload of several programs.
    QUALIFY row_number() OVER (
        PARTITION BY w.model_id, w.precision, r.gpu_id
        ORDER BY (r.claim = 'own') DESC, r.published_on DESC NULLS LAST, r.workload_id
    ) = 1
),
-- A card of less bandwidth is not expected to be faster than one that was measured with more: where software or the CPU
-- was what limited, it limits the others too. And cards that share the layers are no faster than one for one sequence.
ceiling AS (
    SELECT m.model_id, m.precision, g.gpu_id, min(m.tokens_per_s) AS tokens_per_s
    FROM measured m
    JOIN core.gpu faster ON faster.gpu_id = m.gpu_id
    JOIN core.gpu g ON g.memory_bandwidth_gb_s <= faster.memory_bandwidth_gb_s
    GROUP BY m.model_id, m.precision, g.gpu_id
),
card AS (
    SELECT
        g.gpu_id,
        g.gpu,
        g.memory_bandwidth_gb_s * 1e9 AS bandwidth,
        -- A card sold as 24 GB holds 24 × 2^30 bytes.
        coalesce(s.driver_memory_gb, g.memory_gb * 1.073741824) AS driver_gb,
        s.* EXCLUDE (gpu_id),
        n.cards
    FROM core.gpu g
    LEFT JOIN core.gpu_speed s ON s.gpu_id = g.gpu_id
    CROSS JOIN (SELECT unnest(coalesce(counts, [1, 2, 4, 8])) AS cards) n
    -- Of accelerators that are no GPUs no program of these is known to run (transform/speed/accelerators.toml).
    WHERE g.memory_gb > 0 AND g.segment IS DISTINCT FROM 'accelerator' AND n.cards BETWEEN 1 AND 16
),
-- What the measurements cover, which core.gpu_speed says in one text a card (transform/seeds/speeds.py): read once for each card.
part AS (
    SELECT DISTINCT gpu_id, part FROM (SELECT gpu_id, unnest(string_split(measured_models, '; ')) AS part FROM core.gpu_speed)
),
of_kind AS (
    SELECT
        gpu_id,
        regexp_extract(part, '^(.+) (to|within) [0-9.]+', 1) AS kind,
        max(try_cast(regexp_extract(part, ' to ([0-9]+) tokens', 1) AS INTEGER)) AS most_tokens,
        bool_or(part LIKE '% tokens, estimated') AS is_doubted,
        max(try_cast(regexp_extract(part, ' within ([0-9.]+)', 1) AS DOUBLE)) AS inside,
        max(try_cast(regexp_extract(part, ' within [0-9.]+, else ([0-9.]+)', 1) AS DOUBLE)) AS outside
    FROM part
    GROUP BY ALL
),
work AS (
    SELECT
        n.*,
        w.always_read_bytes,
        w.expert_bytes,
        m.experts,
        m.used_experts,
        m.attention_heads,
        m.key_value_heads,
        m.tower_parameters,
        8192 * m.activation_bytes_per_token + 256 * m.activation_bytes_per_sequence AS tried_bytes,
        -- What kind of model it is: transform/speed/work.py, kind_of. A state counts as a window of one token.
        CASE WHEN m.experts > 1 AND n.precision IN ('mxfp4', 'MXFP4_MOE') THEN 'packed mixture'
            ELSE CASE WHEN n.model_id IN (SELECT k.model_id FROM core.model_cache k WHERE k.window_tokens = 1) THEN 'linear ' ELSE '' END
                || CASE WHEN m.experts > 1 THEN 'mixture' ELSE 'dense' END END AS kind,
        -- What llama.cpp does not load, or what several people are served with, runs on a server that divides every layer.
        n.precision IN ('fp8', 'gptq-int4-g128', 'gptq-int8-g128', 'awq-int4-g128', 'nf4', 'nvfp4')
            OR (sequences > 1 AND n.precision IN ('fp32', 'fp16', 'bf16', 'int8', 'int4', 'mxfp4')) AS on_server,
        round(w.bits_per_weight, 1) AS bits,
        printf('%dx%dx%d at %.1f bits', m.layers, m.hidden_size, m.vocabulary_size, w.bits_per_weight::DOUBLE) AS shape,
        -- Two operations for each weight that a token is multiplied with.
        2 * m.parameters * (w.always_read_bytes + w.expert_bytes * m.used_experts / m.experts) / w.weights_bytes AS flops
    FROM model_need(precisions, contexts, sequences) n
    JOIN core.model m ON m.model_id = n.model_id
    JOIN core.model_weights w ON w.model_id = n.model_id AND w.precision = n.precision
),
plan AS (
    SELECT
        n.*,
        c.*,
        -- A model of text is spread over all cards, an image model is not: each card makes its own pictures.
        CASE WHEN n.model_kind IN ('diffusion', 'video') THEN 1 ELSE c.cards END AS together,
        n.on_server AND c.cards > 1 AND coalesce(n.attention_heads % c.cards = 0
            AND (n.key_value_heads % c.cards = 0 OR c.cards % n.key_value_heads = 0), true) AS in_parts,
        CASE WHEN n.bits > 16 THEN c.bound_tflops_32 WHEN n.bits > 9 THEN c.bound_tflops_16
            WHEN n.bits > 4 THEN c.bound_tflops_8 ELSE c.bound_tflops_4 END * 1e12 AS roof,
        n.written_cache_bytes / sequences AS written_cache,
        -- Of one sequence: that is what was measured.
        CASE WHEN sequences = 1 THEN m.tokens_per_s END AS measured,
        CASE WHEN sequences = 1 THEN t.tokens_per_s END AS ceiling,
        coalesce(k.most_tokens, 0) AS most_tokens,
        coalesce(k.is_doubted, false) AS is_doubted,
        k.inside,
        k.outside,
        p.part IS NOT NULL AS is_measured_model
    FROM work n
    CROSS JOIN card c
    LEFT JOIN of_kind k ON k.gpu_id = c.gpu_id AND k.kind = n.kind
    LEFT JOIN part p ON p.gpu_id = c.gpu_id AND p.part = n.shape
    LEFT JOIN measured m ON m.model_id = n.model_id AND m.precision = n.precision AND m.gpu_id = c.gpu_id
    LEFT JOIN ceiling t ON t.model_id = n.model_id AND t.precision = n.precision AND t.gpu_id = c.gpu_id
),
-- What the measurements of this warehouse say of a program beside the calibration; see transform/speed/learned.py.
shift AS (
    SELECT g.gpu_id, e.engine, e.for_several, sum(e.effect) AS effect,
        arg_max(e.deviation, CASE e.level WHEN 'card' THEN 3 WHEN 'architecture' THEN 2 ELSE 1 END) AS deviation,
        bool_or(e.level <> 'engine') AS is_near
    FROM core.calibration e
    JOIN core.gpu g ON e.name = CASE e.level WHEN 'engine' THEN e.engine WHEN 'architecture' THEN g.architecture WHEN 'card' THEN g.gpu_id END
    GROUP BY g.gpu_id, e.engine, e.for_several
),
shared AS (
    SELECT *, sequences / CASE WHEN in_parts THEN 1 ELSE least(cards, sequences) END AS at_once FROM plan
),
timed AS (
    SELECT
        *,
        (CASE WHEN on_server OR model_kind IN ('diffusion', 'video') THEN resident_bytes ELSE on_card_bytes END
            + CASE WHEN on_server THEN server_cache_bytes ELSE cache_bytes END
                * CASE WHEN in_parts THEN greatest(1, cards / key_value_heads) ELSE 1 END
            -- A server tries itself with 8,192 tokens of 256 sequences, and a model that sees pictures with pictures:
            -- tried_tokens and tower_overhead_gb in transform/speed/engines.toml.
            + together * CASE WHEN on_server THEN tried_bytes + CASE WHEN tower_parameters > 0 THEN 2.7e9 ELSE 0 END ELSE activation_bytes END)
            / 1e9 AS needed_gb,
        core.usable_gb(driver_gb, together, on_server) AS available_gb,
        -- Nothing is written token by token where no bytes are read for it.
        CASE WHEN weights_read_bytes IS NULL THEN NULL ELSE sequences END * CASE WHEN in_parts THEN cards ELSE 1 END / greatest(
            -- Of a mixture all users may reach the same experts.
            (always_read_bytes + CASE WHEN experts = 1 THEN 0 ELSE expert_bytes * used_experts / experts END
                -- One user begins with an empty cache.
                + CASE WHEN sequences = 1 THEN 0 ELSE at_once * written_cache END)
                / bandwidth,
            at_once * flops / roof
        ) AS bound,
        -- Where a share of the context is held, which a measurement of a few hundred tokens did not have to read.
        CASE WHEN sequences = 1 THEN bandwidth / (weights_read_bytes + written_cache) END AS bound_of_held_cache,
        sequences * bandwidth / weights_read_bytes AS bound_of_empty_cache,
        -- Half of the 16-bit rate is what many sequences at once are taken to reach.
        CASE WHEN sequences = 1 OR tflops_16 IS NULL THEN 0 ELSE sequences * flops / (tflops_16 * 0.5e12) END AS computing,
        seconds_per_billion_bytes * weights_read_bytes / 1e9 AS weights_s,
        seconds_per_billion_cached_bytes * sequences * written_cache / 1e9 AS cache_s,
        seconds_per_billion_bytes IS NOT NULL AND NOT on_server AS is_calibrated,
        -- While an answer is written a share of the context is held.
        greatest(1, round_even(context_tokens * core.assumed('context_read'), 0)) <= 1.1 * most_tokens AS is_inside
    FROM shared
),
rated AS (
    SELECT
        t.* EXCLUDE (is_calibrated),
        is_calibrated OR coalesce(l.is_near, false) AS is_calibrated,
        (is_inside AND NOT is_doubted AND sequences = 1) OR coalesce(l.is_near, false) AS is_covered,
        l.deviation AS learned_deviation,
        weights_s + cache_s
            + seconds_per_layer * CASE WHEN experts = 1 THEN 1 ELSE mixture_factor END
                * CASE WHEN kind LIKE 'linear%' THEN state_factor ELSE 1 END * layers
            + seconds_per_handover * (cards - 1) + computing AS step_s,
        -- What a server does is fitted apart (transform/speed/served.py): `gpuledger predict` says it.
        CASE WHEN t.is_calibrated THEN exp(coalesce(l.effect, 0)) * sequences / step_s END AS unmeasured
    FROM timed t
    LEFT JOIN shift l ON l.gpu_id = t.gpu_id AND NOT t.on_server AND l.engine = 'llama.cpp'
        AND l.for_several = (sequences > 1)
),
answered AS (
    SELECT
        *,
        CASE
            WHEN bound IS NULL THEN NULL
            WHEN measured IS NOT NULL AND cards = 1 THEN least(measured, bound, bound_of_held_cache)
            WHEN unmeasured IS NULL THEN NULL
            ELSE least(unmeasured, bound, ceiling)
        END AS expected,
        -- Standard deviations of the logarithm: of a repeated measurement, of the calibration, of what nobody measured.
        CASE
            WHEN measured IS NOT NULL AND cards = 1 THEN 0.05
            ELSE least(learned_deviation, sqrt(CASE WHEN is_inside THEN coalesce(inside, deviation) ELSE coalesce(outside, mixture_deviation) END ** 2
                + (cache_deviation * cache_s / (step_s - computing)) ** 2
                + CASE WHEN is_measured_model THEN 0 ELSE coalesce(other_models_deviation, 0) END ** 2
                + CASE WHEN sequences > 1 THEN 0.3 ELSE 0 END ** 2))
        END AS off
    FROM rated
)
SELECT
    f.model_id,
    f.precision,
    f.context_tokens,
    f.gpu_id,
    f.gpu,
    f.cards AS gpu_count,
    f.needed_gb,
    f.available_gb,
    f.needed_gb <= f.available_gb AS fits,
    f.bound AS decode_bound_tokens_per_s,
    CASE WHEN f.cards = 1 THEN f.measured END AS measured_tokens_per_s,
    CASE WHEN f.cards = 1 THEN f.measured / f.bound_of_empty_cache END AS bandwidth_utilisation,
    CASE
        WHEN f.cards > 1 OR f.measured IS NULL THEN NULL
        WHEN f.measured > f.bound_of_empty_cache THEN 'error in data or formula'
        WHEN f.measured < f.bound_of_empty_cache * core.assumed('low_utilisation')
            THEN 'limited by software or CPU, not by the card'
        ELSE 'limited by the card'
    END AS verdict,
    f.expected AS expected_tokens_per_s,
    f.expected / exp(1.2816 * f.off) AS low_tokens_per_s,
    CASE WHEN f.expected IS NOT NULL THEN least(f.expected * exp(1.2816 * f.off), f.bound) END AS high_tokens_per_s,
    CASE
        WHEN f.bound IS NULL THEN 'unknown'
        WHEN f.measured IS NOT NULL AND f.cards = 1 THEN 'measured'
        WHEN NOT f.is_calibrated THEN 'bound'
        -- Only where such a model was measured, and if the range is narrow enough (transform/speed/calibration.py).
        WHEN f.is_covered AND 2 * 1.2816 * f.off <= ln(2.5) THEN 'calibrated'
        ELSE 'estimated'
    END AS speed_basis,
    CASE WHEN f.model_kind IN ('diffusion', 'video') THEN NULL WHEN f.on_server THEN 'vllm' ELSE 'llama.cpp' END AS engine,
    CASE
        WHEN f.model_kind IN ('diffusion', 'video') OR f.cards = 1 THEN NULL
        WHEN f.in_parts THEN 'tensor' WHEN f.on_server THEN 'pipeline' ELSE 'layer'
    END AS split,
    CASE
        WHEN f.needed_gb > f.available_gb THEN 'no'
        WHEN f.needed_gb > f.available_gb * 0.95 THEN 'tight'
        ELSE 'fits'
    END AS fit
FROM answered f
