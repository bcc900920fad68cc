"""What fits on so many cards of a kind, and how fast it will be: against a published table that the figures were fitted to,
with every card left out in turn, and against what is physically possible.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying.hosts import host_for
from gpuledger.transform.identity.catalogue import by_id
from gpuledger.transform.identity.resolver import Resolver
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.errors import SizingError
from gpuledger.transform.speed import memory
from gpuledger.transform.speed.calibration import EIGHTY_PERCENT, pipeline_speedup
from gpuledger.transform.speed.engines import check_loads, default_engine, engine_of, loaded_as
from gpuledger.transform.speed.memory import HostMemory
from gpuledger.transform.speed.predict import Prediction, job_of, least_of_alike, load_of, predict, with_measurement
from gpuledger.transform.speed.rules import Plan
from tools import calibrate
from tools.measured_table import TableRow, read_table
from tools.speeds import points

A = Assumptions()


def ask(
    gpu_id: str,
    count: int,
    model_id: str,
    precision: str,
    *,
    engine: str = "llama.cpp",
    split: str | None = None,
    context: int = 2048,
    users: int = 1,
) -> Prediction:
    program, shape = engine_of(engine), catalogue.architecture(model_id)
    plan = Plan(gpu=by_id()[gpu_id], count=count, engine=program, split=split or program.split)  # type: ignore[arg-type]
    return predict(job_of(shape, precision, load_of(shape, context, users, None, A), A), plan)


@pytest.fixture(scope="module")
def table(shared_data: Path) -> list[TableRow]:
    folder, resolver = shared_data / "benchmarks", Resolver.load()
    return [row for path in sorted(folder.glob("llama3_llama_cpp_*.csv")) for row in read_table(path, resolver)]


@pytest.mark.parametrize(
    ("cards", "split", "users", "offload", "written", "read"),
    [
        (("nvidia-geforce-rtx-4090", 1, "llama.cpp"), "layer", 1, "none", "calibrated", "calibrated"),
        (("nvidia-h100-sxm5", 1, "vllm"), "tensor", 8, "none", "estimated", "estimated"),
        # No server was measured so divided: a usual share, and a wide range.
        (("nvidia-h100-sxm5", 3, "vllm"), "pipeline", 8, "none", "bound", "bound"),
        # Only what physics allows: no GPU, and a processor with a part of the model for several.
        (("intel-gaudi-3", 1, "vllm"), "tensor", 1, "none", "unknown", "unknown"),
        (("nvidia-geforce-gtx-1050-2gb", 1, "llama.cpp"), "layer", 4, "layers", "unknown", "bound"),
        # No matrix rate, so that nothing is known of reading.
        (("3dfx-velocity-100", 1, "transformers"), "layer", 1, "none", "bound", None),
    ],
)
def test_what_was_measured_decides_what_a_speed_is_called(
    cards: tuple[str, int, str], split: Any, users: int, offload: Any, written: str, read: str | None
) -> None:
    (gpu_id, count, engine), shape = cards, catalogue.architecture("llama-3-8b")
    job = job_of(shape, "bf16" if "gaudi" in gpu_id else "int4", load_of(shape, 2048, users, None, A), A)
    host = HostMemory(gb=64, gb_s=60, source="a machine")
    plan = Plan(gpu=by_id()[gpu_id], count=count, engine=engine_of(engine), split=split, offload=offload, host=host)
    found = predict(job, plan)
    assert (found.decode.basis, found.decode.bound is not None) == (written, True)
    assert (found.prefill.basis, found.prefill.bound is not None) == (read or "unknown", read is not None)
    assert (found.decode.expected is None) == (written == "unknown")


def answers(table: list[TableRow], measure: str) -> list[tuple[TableRow, Prediction]]:
    return [
        (row, ask(row.gpu.gpu_id, row.count, row.model_id, row.precision)) for row in table if row.measure == measure
    ]


def test_every_out_of_memory_verdict_of_the_table_is_right(table: list[TableRow]) -> None:
    wrong = [
        (row.printed, row.count, row.model_id, row.precision, found.verdict)
        for row, found in answers(table, "decode")
        if (found.verdict == "no") != (row.tokens_per_s is None)
    ]
    assert not wrong
    assert sum(row.tokens_per_s is None for row in table) > 20


@pytest.mark.parametrize("measure", ["decode", "prefill"])
def test_no_measurement_of_the_table_is_above_its_bound(table: list[TableRow], measure: str) -> None:
    for row, found in answers(table, measure):
        rate = found.decode if measure == "decode" else found.prefill
        if row.tokens_per_s is not None:
            assert row.tokens_per_s < rate.bound, row


@pytest.mark.slow
def test_cards_that_were_left_out_are_predicted_within_the_range(shared_data: Path) -> None:
    found = list(points(shared_data / "benchmarks", Resolver.load()))
    for what, least_rank in (("decode", 0.95), ("prefill", 0.95), ("serve", 0.95)):
        rows = calibrate.left_out(found, "llama.cpp", what, "card")
        for count in {row.point.count for row in rows}:
            ratios = [math.exp(row.off) for row in rows if row.point.count == count]
            low, high = (0.9, 1.1) if len(ratios) >= 10 and what != "serve" else (0.85, 1.2)
            assert low < statistics.median(ratios) < high, (what, count)
        # Neither speed nor range of a card knows anything of that card: both come from the others.
        inside = [abs(row.off) <= EIGHTY_PERCENT * calibrate.spread_without(rows, row, 0.1) for row in rows]
        assert 0.75 <= statistics.mean(inside) <= 0.92, what
        measured = [row.point.rate for row in rows]
        expected = [row.point.rate / math.exp(row.off) for row in rows]
        assert rank_correlation(measured, expected) > least_rank


def test_a_range_is_the_smallest_that_holds_eight_of_ten_with_every_card_weighing_the_same(shared_data: Path) -> None:
    found = next(points(shared_data / "benchmarks", Resolver.load()))
    cards = [replace(found, card=replace(found.card, gpu_id=str(n))) for n in range(4)]
    # 0.8 × (4 + 1) cards are all four, and a hundred small errors of one card do not make it narrower.
    offs = [(cards[0], 0.1), (cards[1], -0.2), (cards[2], 0.3), *[(cards[3], 0.05)] * 100]
    rows = [calibrate.Left(point, off, True) for point, off in offs]
    assert calibrate.held_out_spread(rows) == pytest.approx(0.3 / EIGHTY_PERCENT)
    # Of nine, eight: the ninth may err as it likes.
    nine = [calibrate.Left(replace(found, card=replace(found.card, gpu_id=str(n))), 0.1 * n, True) for n in range(1, 9)]
    assert calibrate.held_out_spread([*nine, calibrate.Left(cards[0], 99.0, True)]) == pytest.approx(
        0.8 / EIGHTY_PERCENT
    )


def test_a_kind_whose_ranges_did_not_hold_promises_nothing_and_takes_no_other_with_it(shared_data: Path) -> None:
    found = next(p for p in points(shared_data / "benchmarks", Resolver.load()) if p.card.vendor == "NVIDIA")

    def rows(vendor: str, kind: str, off: float, cards: int) -> list[calibrate.Left]:
        each = [replace(found.card, gpu_id=f"{vendor} {number}", vendor=vendor) for number in range(cards)] * 4
        return [
            calibrate.Left(replace(found, card=card, work=replace(found.work, kind=kind)), off, True) for card in each
        ]

    # Three cards of a maker are far off, and all else lies within a tenth; of Intel's one card is too few to say.
    kept = calibrate.kept(
        [*rows("AMD", "dense", 0.4, 3), *rows("NVIDIA", "dense", 0.1, 20), *rows("Intel", "mixture", 0.1, 1)], 0.1
    )
    shares = {kind: share for kind, (share, _) in kept.items()}
    assert shares == {"AMD": 0.0, "Intel": 0.0, "mixture": 0.0, "NVIDIA": 1.0, "dense": 1.0}
    assert {kind: off for kind, (_, off) in kept.items() if off} == {"AMD": pytest.approx(0.4 / EIGHTY_PERCENT)}


def test_a_model_that_nobody_measured_has_a_wider_range_than_one_that_was() -> None:
    widths = []
    for model_id in ("llama-3-8b", "llama-3.1-8b", "mistral-7b"):
        rate = ask("nvidia-geforce-rtx-3090", 1, model_id, "Q4_K_M").decode
        widths.append(rate.expected / rate.low)
    assert widths[0] == widths[1] < widths[2]
    # What other publishers measured of other models, with later versions of the program.
    assert 1.1 < widths[2] < 1.25


def rank_correlation(one: list[float], other: list[float]) -> float:
    """Spearman's, for values without ties."""
    ranks = [[sorted(values).index(value) for value in values] for values in (one, other)]
    return statistics.correlation(ranks[0], ranks[1])


def test_cards_that_share_the_layers_add_memory_and_no_speed_for_one_user() -> None:
    one, four = (ask("nvidia-geforce-rtx-4090", n, "llama-3-8b", "Q4_K_M") for n in (1, 4))
    assert four.usable == 4 * one.usable
    assert 0.8 * one.decode.expected < four.decode.expected < one.decode.expected
    assert four.decode.bound == one.decode.bound


def test_a_part_of_every_layer_on_each_card_is_faster_where_the_heads_divide() -> None:
    one, four = (ask("nvidia-h100-sxm5", n, "llama-3-70b", "fp8", engine="vllm") for n in (1, 4))
    assert 2 < four.decode.expected / one.decode.expected < 4
    six = ask("nvidia-h100-sxm5", 6, "llama-3-70b", "fp8", engine="vllm")
    assert any("64 heads with 8 key-value heads cannot be divided among 6 cards" in str(note) for note in six.notes)


def test_what_does_not_fit_says_how_many_cards_and_how_many_users_would_do() -> None:
    many = ask("nvidia-h100-sxm5", 8, "llama-3.1-405b", "fp8", engine="vllm", users=256, context=4096)
    assert many.verdict == "no"
    held = many.users_at_once
    assert str(many.notes[0]) == (
        f"these hold {held} at once and {256 - held} wait, so the speeds are of {held} at once; "
        "14 of these cards hold it all at once"
    )
    few = ask("nvidia-geforce-rtx-3090", 1, "llama-3-70b", "int4", engine="vllm", users=8)
    assert str(few.notes[0]).endswith("; 4 of these cards hold it"), "3 would, but the heads do not divide among them"
    one, more = (
        ask("nvidia-h100-sxm5", 8, "llama-3.1-405b", "fp8", engine="vllm", users=users, context=4096)
        for users in (held, held + 1)
    )
    assert (one.verdict != "no", more.verdict) == (True, "no")
    assert "--assume server_memory_share=0.91)" in str(more.notes[0])
    larger = replace(more.job, assumptions=replace(A, server_memory_share=0.91))
    assert predict(larger, more.plan).verdict == "tight"


def test_prompts_of_several_users_follow_one_another_through_cards_that_share_the_layers() -> None:
    one, many = (ask("nvidia-h100-sxm5", 6, "llama-3-70b", "fp8", engine="vllm", users=n) for n in (1, 64))
    assert one.split == many.split == "pipeline"  # 64 heads are not divided among six
    assert 1.5 < many.prefill.expected / one.prefill.expected < 6


def test_slower_links_make_tensor_parallelism_slower() -> None:
    shared = {"count": 4, "model_id": "llama-3-70b", "precision": "fp16", "engine": "vllm"}
    module = ask("nvidia-a100-sxm4-80gb", **shared)  # type: ignore[arg-type]
    card = ask("nvidia-a100-pcie-80gb", **shared)  # type: ignore[arg-type]
    assert module.prefill.expected > 1.2 * card.prefill.expected


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("expected_utilisation", 0.5), ("mixture_layer_us", 200.0), ("link_gb_s", 2.0), ("link_latency_us", 30.0),
        ("slot_share", 0.1), ("parallel_fraction", 0.8),
    ],
)  # fmt: skip
def test_what_is_assumed_of_programs_that_nobody_measured_moves_what_is_expected(name: str, value: float) -> None:
    def speed(assumptions: Assumptions) -> float | None:
        shape, gpu = catalogue.architecture("mixtral-8x7b"), by_id()["nvidia-geforce-rtx-4090"]
        plan = Plan(gpu=gpu, count=4, engine=engine_of("transformers"), split="tensor")
        return predict(
            job_of(shape, "fp16", load_of(shape, 2048, 4, None, assumptions), assumptions), plan
        ).decode.expected

    assert speed(replace(A, **{name: value})) < speed(A)  # type: ignore[arg-type, operator]


def test_many_sequences_meet_the_arithmetic_of_the_card() -> None:
    pascal = ask("nvidia-tesla-p40", 1, "llama-3-8b", "Q4_K_M", context=512, users=64)
    fp32 = by_id()["nvidia-tesla-p40"].fp32_tflops
    assert pascal.decode.expected < fp32 * 1e12 / (2 * 8.03e9)


def test_several_users_write_more_together_and_less_each() -> None:
    one, many = (ask("nvidia-h100-sxm5", 1, "llama-3-8b", "fp16", engine="vllm", users=n) for n in (1, 32))
    assert one.decode.expected < many.decode.expected < 32 * one.decode.expected


@pytest.mark.parametrize(
    ("gpu_id", "mib"),
    [
        ("nvidia-tesla-t4", 15360),
        ("nvidia-l40s", 46068),
        ("nvidia-h100-sxm5", 81559),
        ("nvidia-geforce-rtx-4090", 24564),
        ("nvidia-a16", 15360),  # no figure of its own: error correction takes a sixteenth
    ],
)
def test_memory_is_what_the_driver_shows(gpu_id: str, mib: int) -> None:
    found = memory.driver_memory(by_id()[gpu_id])
    assert found.size == mib * 2**20


def test_deepseek_v3_at_eight_bits_does_not_fit_eight_h800() -> None:
    assert ask("nvidia-h800-sxm5", 8, "deepseek-v3", "fp8", engine="vllm").verdict == "no"
    assert ask("nvidia-h200-sxm", 8, "deepseek-v3", "fp8", engine="vllm").verdict == "fits"


def test_servers_pad_four_bit_experts() -> None:
    file, loaded = (ask("nvidia-h100-sxm5", 1, "gpt-oss-120b", "mxfp4", engine=e).job for e in ("llama.cpp", "vllm"))
    assert file.padding_in(engine_of("llama.cpp")) == 0
    # Model loading took 65.9651 GiB: vllm-project/vllm, issue 23278.
    assert (loaded.size.total + loaded.padding_in(engine_of("vllm"))) / 2**30 == pytest.approx(65.9651, rel=0.002)


def test_a_fit_with_little_left_over_is_tight() -> None:
    assert [memory.verdict(needed, 100) for needed in (95, 95.1, 100, 100.1)] == ["fits", "tight", "tight", "no"]
    just, lower = (
        ask("nvidia-geforce-rtx-4090", 1, "llama-3.1-8b", "bf16", engine="vllm", context=n) for n in (32000, 28000)
    )
    assert (just.verdict, lower.verdict) == ("tight", "fits")
    assert "lower --context 28000, --users or --kv-bits" in str(just.notes[0])


def test_a_limit_of_shared_memory_that_its_owner_can_raise_is_no_reason_against_a_model() -> None:
    held, not_held = (
        ask("amd-ryzen-ai-max-plus-395-128gb", 1, "qwen3-235b-a22b", p, context=640) for p in ("Q3_K_M", "Q4_K_M")
    )
    assert (held.verdict, not_held.verdict) == ("tight", "no")
    assert "once the owner lets the graphics take 112 GB of the memory" in str(held.notes[0])


def test_what_is_farther_from_any_measurement_has_a_wider_range() -> None:
    def width(gpu_id: str, model_id: str = "llama-3-8b") -> float:
        rate = ask(gpu_id, 1, model_id, "Q4_K_M").decode
        return rate.high / rate.low

    known, family = width("nvidia-geforce-rtx-3090"), width("nvidia-geforce-rtx-3080-10gb")
    other = width("nvidia-tesla-p40")
    assert known < 0.9 * family < family < other
    assert width("nvidia-geforce-rtx-3090", "mixtral-8x7b") > 1.05 * known


def test_llama_cpp_reads_a_mixture_with_8_bits_around_its_experts_and_a_server_with_16() -> None:
    llama, ollama, server = (engine_of(name) for name in ("llama.cpp", "ollama", "vllm"))
    assert loaded_as(llama, "mxfp4") == loaded_as(ollama, "MXFP4") == "MXFP4_MOE"
    assert loaded_as(server, "mxfp4") == "mxfp4"
    assert (loaded_as(server, "F16"), loaded_as(llama, "F16"), loaded_as(server, "awq")) == (
        "fp16",
        "F16",
        "awq-int4-g128",
    )
    assert engine_of("TRT_LLM").name == "tensorrt-llm"
    # GB10, geerlingguy/ai-benchmarks: 88 tokens/s of gpt-oss-20b, which the published weights would not allow.
    file, published = (ask("nvidia-gb10", 1, "gpt-oss-20b", one).decode for one in ("MXFP4_MOE", "mxfp4"))
    assert published.bound < 88 < file.bound


def test_a_mixture_on_a_server_takes_time_for_each_layer_on_however_many_cards() -> None:
    # 30 tokens/s in December 2024 (sgl-project/sglang pull request 2643), two and three times that a year later.
    one = ask("nvidia-h200-sxm", 8, "deepseek-v3", "fp8", engine="sglang", context=512).decode
    assert 60 < one.expected < 120
    # The same page: 760 tokens/s for 32 users.
    many = ask("nvidia-h200-sxm", 8, "deepseek-v3", "fp8", engine="sglang", context=512, users=32).decode
    assert 760 < many.expected < 32 * one.expected


def test_a_bound_counts_on_no_cache_that_one_user_need_not_hold() -> None:
    short, long = (ask("apple-m3-16gb", 1, "llama-2-7b", "Q4_0", context=n).decode for n in (256, 4096))
    assert short.bound == long.bound
    assert short.expected > long.expected
    two = [ask("nvidia-l40s", 1, "llama-2-7b", "Q4_0", context=n, users=2).decode.bound for n in (256, 4096)]
    assert None not in two
    assert two[0] > two[1]  # type: ignore[operator]


def test_what_nobody_measured_reading_has_a_wider_range() -> None:
    def width(model_id: str) -> float:
        rate = ask("nvidia-geforce-rtx-3090", 1, model_id, "Q4_K_M").prefill
        return rate.expected / rate.low

    assert 1.1 < width("llama-3-8b") < width("mistral-7b") < 1.4 < width("qwen3-30b-a3b") < 2.3
    ollama = ask("nvidia-geforce-rtx-3090", 1, "llama-3-8b", "Q4_K_M", engine="ollama").prefill
    assert ollama == ask("nvidia-geforce-rtx-3090", 1, "llama-3-8b", "Q4_K_M").prefill


def test_cards_of_one_name_are_one_answer_where_they_answer_alike() -> None:
    slot, socket = (ask(f"nvidia-tesla-v100-{one}-32gb", 1, "llama-3-8b", "Q4_K_M") for one in ("pcie", "sxm2"))
    assert least_of_alike([socket, slot]) in (slot, socket)
    other = [ask(f"nvidia-geforce-rtx-3060-{gb}gb", 1, "llama-3-8b", "Q4_K_M") for gb in (8, 12)]
    assert least_of_alike(other) is None


def test_a_measurement_stands_in_place_of_what_is_expected_and_never_above_the_bound() -> None:
    rate = ask("nvidia-geforce-rtx-4090", 1, "llama-3-8b", "Q4_K_M").decode
    taken = with_measurement(rate, 100.0)
    assert (taken.expected, taken.basis, taken.bound) == (100.0, "measured", rate.bound)
    assert with_measurement(rate, 10 * rate.bound).expected == rate.bound


def test_a_pipeline_of_many_pieces_nears_the_number_of_its_stations() -> None:
    assert pipeline_speedup(512, 4, 512) == 1
    assert pipeline_speedup(1024, 4, 512) == pytest.approx(1.6)
    assert pipeline_speedup(512_000, 4, 512) == pytest.approx(4, rel=0.01)


def test_every_range_holds_what_is_expected_and_ends_at_the_bound() -> None:
    for gpu_id in ("nvidia-geforce-rtx-3060-12gb", "nvidia-b200", "amd-radeon-instinct-mi300x", "nvidia-gb10"):
        for engine, precision in (("llama.cpp", "Q4_K_M"), ("ollama", "Q8_0"), ("vllm", "fp16")):
            found = ask(gpu_id, 2, "qwen2.5-7b", precision, engine=engine)
            for rate in (found.decode, found.prefill):
                if rate.expected is None:
                    assert rate.basis == "unknown"
                    continue
                assert rate.low <= rate.expected <= rate.high
                assert rate.bound is None or rate.high <= rate.bound


def test_what_an_engine_cannot_load_or_a_machine_cannot_hold_is_refused() -> None:
    with pytest.raises(SizingError, match=r"no engine is called 'llamafile'; known are llama.cpp"):
        engine_of("llamafile")
    with pytest.raises(SizingError, match=r"vllm does not load Q4_K_M; llama.cpp"):
        check_loads(engine_of("vLLM"), "Q4_K_M")
    with pytest.raises(SizingError, match="between 1 and 16 cards"):
        ask("nvidia-geforce-rtx-4090", 17, "llama-3-8b", "Q4_K_M")
    assert default_engine("fp8").name == default_engine("fp16", users=8).name == "vllm"
    assert default_engine("fp16").name == default_engine("Q4_K_M", users=8).name == "llama.cpp"


@pytest.mark.parametrize(
    ("gpu_id", "gib", "bandwidth"),
    [
        ("apple-m1-16gb", 16 * 2 / 3, 68.25),
        ("apple-m2-ultra-192gb", 144, 800),  # as llama.cpp prints recommendedMaxWorkingSetSize
        ("apple-m1-max-64gb", 48, 400),
        ("amd-ryzen-ai-max-plus-395-128gb", 96, 256),  # as AMD says
    ],
)
def test_graphics_get_a_share_of_a_machines_memory(gpu_id: str, gib: float, bandwidth: float) -> None:
    gpu = by_id()[gpu_id]
    found = memory.driver_memory(gpu)
    assert found.size == pytest.approx(gib * 2**30, rel=1e-6)
    rate = ask(gpu_id, 1, "llama-3-8b", "Q4_K_M").decode
    assert rate.bound < bandwidth * 1e9 / 4.5e9
    # A machine is bought one by one, and no other machine is needed around it.
    host = host_for(gpu, 1, None)
    assert (host.full_usd(A), host.power_w(A)) == (0, 0)
    assert host_for(gpu, 2, None) is None


def test_no_title_of_a_shop_means_a_machine_as_a_card() -> None:
    resolver = Resolver.load()
    for title in ("Apple M2 Ultra 192GB", "Apple MacBook Pro M4 Max 64GB", "AMD Ryzen AI Max+ 395 128GB", "M1 16GB"):
        assert resolver.resolve(title, source="some_shop").gpu_id is None
