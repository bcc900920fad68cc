"""Files of benchmark programs, in the shape in which these write them, with invented figures."""

from __future__ import annotations

from typing import Any

_RUN: dict[str, Any] = {
    "build_commit": "cd08fc3", "build_number": 7011, "cpu_info": "Kettle 16", "gpu_info": "NVIDIA GeForce RTX 4090",
    "backends": "CUDA", "model_filename": "models/Meta-Llama-3-8B-Instruct-Q4_K_M.gguf",
    "model_type": "llama 8B Q4_K - Medium", "model_size": 4912898304, "model_n_params": 8030261312, "n_batch": 2048,
    "n_ubatch": 512, "n_threads": 16, "type_k": "f16", "type_v": "f16", "n_gpu_layers": 99, "split_mode": "layer",
    "main_gpu": 0, "no_kv_offload": False, "flash_attn": 1, "devices": "auto", "tensor_split": "0.00", "load_mode": "mmap",
    "embeddings": False, "n_depth": 0, "test_time": "2026-11-02T10:11:12Z", "avg_ns": 1000, "stddev_ns": 10,
    "stddev_ts": 0.4, "samples_ns": [1000], "samples_ts": [150.2],
}  # fmt: skip

LLAMA_BENCH: list[dict[str, Any]] = [
    {**_RUN, "n_prompt": 512, "n_gen": 0, "avg_ts": 11213.52},
    {**_RUN, "n_prompt": 0, "n_gen": 128, "avg_ts": 150.213},
    {**_RUN, "n_prompt": 512, "n_gen": 128, "avg_ts": 700.1},
]

LLAMA_BENCH_TABLE = """\
ggml_cuda_init: found 1 CUDA devices:
  Device 0: Varde GeForce RTX 4090, compute capability 8.9, VMM: yes
| model                          |       size |     params | backend    | ngl |            test |                  t/s |
| ------------------------------ | ---------: | ---------: | ---------- | --: | --------------: | -------------------: |
| llama 7B Q4_0                  |   3.56 GiB |     6.74 B | CUDA       |  99 |           pp512 |      5765.41 ± 20.55 |
| llama 7B Q4_0                  |   3.56 GiB |     6.74 B | CUDA       |  99 |           tg128 |        161.70 ± 0.12 |
| llama 7B Q4_0                  |   3.56 GiB |     6.74 B | CUDA       |  99 |   tg128 @ d4096 |        120.25 ± 0.10 |
| llama 7B Q4_0                  |   3.56 GiB |     6.74 B | CUDA       |  99 |     pp512+tg128 |        610.00 ± 1.00 |

build: 8cf427f (5163)
"""

VLLM: dict[str, Any] = {
    "date": "20261103-101112", "endpoint_type": "openai", "backend": "openai", "label": None, "model_id": "kettle/varde-8b",
    "tokenizer_id": "kettle/varde-8b", "num_prompts": 100, "request_rate": "inf", "burstiness": 1.0, "max_concurrency": 16,
    "duration": 5.8, "completed": 100, "failed": 0, "total_input_tokens": 102400, "total_output_tokens": 12800,
    "request_throughput": 17.2, "output_throughput": 2212.5, "total_token_throughput": 19900.1, "mean_ttft_ms": 80.1,
}  # fmt: skip

_RESULT: dict[str, Any] = {
    "Organization": "Kettle Systems", "Availability": "available", "Division": "closed", "SystemType": "datacenter",
    "SystemName": "Kettle K8", "Platform": "K8", "Model": "llama2-70b-99.9", "MlperfModel": "llama2-70b-99.9",
    "Scenario": "Offline", "Result": "106517.0", "Accuracy": "ROUGE1: 44.5", "number_of_nodes": 1,
    "host_processor_model_name": "Varde 64", "host_processors_per_node": 2, "host_processor_core_count": "64",
    "accelerator_model_name": "AMD Instinct MI355X 288GB HBM3e", "accelerators_per_node": 8, "total_accelerators": 8,
    "Location": "closed/Kettle/results/K8", "framework": "PyTorch 2.10.0, ROCm 7.2.2", "operating_system": "Kettle OS",
    "notes": "", "compliance": "closed", "errors": 0, "version": "v6.1", "inferred": 0, "has_power": False,
    "Units": "Tokens/s", "weight_data_types": "fp4", "design_power_watts": "", "PrivateID": "",
}  # fmt: skip

MLPERF: dict[str, dict[str, Any]] = {
    "0": _RESULT,
    "1": {**_RESULT, "Result": "9100.5", "Units": "Watts", "has_power": True},
    "2": {**_RESULT, "Scenario": "SingleStream", "Result": "20603", "Units": "Latency (ms)"},
    "3": {**_RESULT, "Scenario": "Server", "Result": "103275.0", "inferred": 1},
}


def _csv(rows: list[dict[str, Any]]) -> str:
    """As the round's writer does: quotes around what holds a comma, and none before a quote inside it."""
    lines = [",".join(_RESULT)]
    for row in rows:
        named = {**row, "SystemName": 'Kettle "K8" node, 8 cards'}
        cells = (f'"{value}"' if "," in str(value) else str(value) for value in named.values())
        lines.append(",".join(cells))
    return "\n".join(lines) + "\n"


MLPERF_CSV = _csv(list(MLPERF.values()))

_X: dict[str, Any] = {
    "hw": "b200-trt", "conc": 64, "image": "kettle/serve:1", "model": "deepseek-ai/DeepSeek-R1-0528",
    "infmax_model_prefix": "dsr1", "framework": "trt", "precision": "fp8", "spec_decoding": "none", "disagg": False,
    "isl": 1024, "osl": 1024, "is_multinode": False, "tp": 8, "ep": 8, "dp_attention": "false", "num_prefill_gpu": 64,
    "num_decode_gpu": 64, "tput_per_gpu": 4000.0, "input_tput_per_gpu": 2000.0, "output_tput_per_gpu": 2000.0,
}  # fmt: skip

INFERENCEX: list[dict[str, Any]] = [
    _X,
    {
        **_X,
        "disagg": True,
        "is_multinode": True,
        "num_prefill_gpu": 4,
        "num_decode_gpu": 8,
        "output_tput_per_gpu": 1000,
    },
]
