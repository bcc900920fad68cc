"""The commands that measure what `gpuledger predict` says, and the one that takes in what they write."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from gpuledger.extract.message import Message
from gpuledger.flows.words.say import say
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.diffusion import DiffusionModel
from gpuledger.transform.speed.predict import Prediction

#: How each program serves a model, and the address at which it then answers. The model and its options come behind.
_SERVERS = {
    "vllm": ("vllm serve {repository} --tensor-parallel-size {count} --max-model-len {context}", 8000),
    "sglang": (
        "python -m sglang.launch_server --model-path {repository} --tp {count} --context-length {context}",
        30000,
    ),
    "tensorrt-llm": ("trtllm-serve {repository} --tp_size {count} --max_seq_len {context}", 8000),
    "llama.cpp": ("llama-server -m MODEL.gguf -ngl 99 -fa on -np {users} -c {all_context}", 8080),
}
#: Tokens that llama-bench writes, in the middle of which as many are held as were asked for.
_WRITTEN = 128


def commands(prediction: Prediction, model_id: str, precision: str) -> Iterator[str]:
    """The commands in their order, one on each line, for the program, the cards and the load of a prediction."""
    plan, users = prediction.plan, prediction.job.load.users
    if plan.engine.name == "ollama" and users == 1:
        yield f"(echo '>>> ollama run {model_id}'; ollama run {model_id} --verbose < PROMPT.txt) > measured.txt 2>&1"
    elif plan.engine.name in ("llama.cpp", "ollama") and users == 1:
        yield from _llama_bench(prediction)
    elif plan.engine.name in _SERVERS:
        yield from _served(prediction, model_id, precision)
    else:
        return
    file = "measured.txt" if plan.engine.name == "ollama" and users == 1 else "measured.jsonl"
    words = ["gpuledger", "measure", "import", file, "--gpu", plan.gpu.display_name, "--gpu-count", str(plan.count)]
    if file == "measured.txt":
        words += ["--precision", precision]
    yield shlex.join(words)


def of_pictures(model: DiffusionModel, precision: str, gpu: Gpu) -> Iterator[str]:
    """How to measure a model of pictures or clips, for which there is no common benchmark program."""
    name = f"own-{model.model_id}-{precision}"
    yield say(Message(
        "Time the steps of {repository} with diffusers or ComfyUI at the makers' size ({steps} steps, after the "
        "first picture); STEPS_PER_S is the it/s that both print.", repository=model.repository, steps=model.steps,
    ))  # fmt: skip
    named = ["--name", name, "--unit", "it/s", "--description", model.repository, "--output", "image"]
    words = ["--model", model.model_id, "--precision", precision, "--iterations", str(model.steps)]
    yield shlex.join(["gpuledger", "workload", "add", name, *named, *words])
    yield shlex.join(["gpuledger", "measure", "add", name, "STEPS_PER_S", "--gpu", gpu.display_name])


def _llama_bench(prediction: Prediction) -> Iterator[str]:
    """Both tests of one user: reading the prompt, and writing while as much is held as the prediction says."""
    plan, job = prediction.plan, prediction.job
    cards = ",".join(map(str, range(plan.count)))
    moved = prediction.moved
    layers = f"-ngl {job.shape.layers + 1 - moved.layers}" if moved and moved.what == "layers" else "-ngl 99"
    away = f" --n-cpu-moe {moved.layers}" if moved and moved.what == "experts" else ""
    split = f" -sm {'tensor' if prediction.split == 'tensor' else 'layer'}" if plan.count > 1 else " -sm none"
    begins = f"CUDA_VISIBLE_DEVICES={cards} llama-bench -m MODEL.gguf {layers}{away}{split} -fa 1 -o jsonl"
    depth = max(0, job.written_at - _WRITTEN // 2)
    yield f"{begins} -p {job.load.prompt} -n 0 > measured.jsonl"
    yield f"{begins} -p 0 -n {_WRITTEN} -d {depth} >> measured.jsonl"


def _served(prediction: Prediction, model_id: str, precision: str) -> Iterator[str]:
    """The server, and vLLM's client, which asks each of these servers. What the file does not say is its metadata."""
    plan, load = prediction.plan, prediction.job.load
    known = catalogue.canonical(model_id)
    repository = catalogue.get(known).repository if known and "/" not in model_id else model_id
    serve, port = _SERVERS[plan.engine.name]
    yield serve.format(
        repository=repository, count=plan.count, context=load.context, users=load.users,
        all_context=load.users * load.context,
    )  # fmt: skip
    yield (
        f"vllm bench serve --backend openai --base-url http://localhost:{port} --model {repository} --dataset-name random"
        f" --random-input-len {load.prompt} --random-output-len {max(1, load.context - load.prompt)} --ignore-eos"
        f" --max-concurrency {load.users} --num-prompts {max(20, 5 * load.users)} --save-result"
        f" --result-filename measured.jsonl --metadata server={plan.engine.name} dtype={precision} tp={plan.count}"
    )
