"""The texts of `predict`, `size` and `--explain` in the language in use: notes, names of figures, sources.

The program makes them in English, for other programs. This module recognises each by the template that it was made from.
The names of sources, and what an assumption rests on, are quotations and stay as they are.
"""

from __future__ import annotations

import re
from functools import cache

from gpuledger.flows.words.lang import current, gettext, knows
from gpuledger.flows.words.sentences import N_

#: Texts with figures, the more specific ones first.
_FILLED = (
    N_("engine {engine}, {split}"),
    N_(
        "{users} at once, each with {context} tokens of context, of which {prompt} are read; speeds are of all "
        "together, while {held} tokens are held (context_read {share})"
    ),
    N_("{heads} heads cannot be divided among {count} cards, so they share the layers"),
    N_("{size} GB a GPU: {source}; the engine takes at most {share} of it, {own} GB of that for itself ({engine})"),
    N_(
        "no GPU: nobody here measured one of its kind, so of its speed only the bound is said, and its program is taken to "
        "leave as much of its memory as on GPUs ({source})"
    ),
    N_("key-value cache at {bits} bits; {where}"),
    N_("the token embedding ({size} GB) stays with the processor"),
    N_(
        "a sequence keeps {size} MB however long it is; nobody here measured a model whose layers keep a state, "
        "so the range is wide"
    ),
    N_("calibrated on {count} measurements of {cards} cards ({source}); {near}"),
    N_(
        "nobody measured {engine} so divided: {share} of the memory's bandwidth and {compute} of the matrix rate, "
        "and a wide range"
    ),
    N_("{time} µs for each layer of a mixture (mixture_layer_us)"),
    N_(
        "{count} measurements of {engine} in this warehouse ({which}) put writing at {factor} times that (core.calibration)"
    ),
    N_(
        "{what} of {layers} of {all} layers ({size} GB) stay with the processor, at {share} of {rate} GB/s "
        "({source}); nobody measured this, so the range is wide"
    ),
    N_("{rate} GB/s between cards, {time} µs an exchange: {source}"),
    N_("{share} of the fabric of its nodes (data sheet; nccl-tests)"),
    N_("slot_share of its slot, {slot}"),
    N_("the speeds are those of cards with enough memory; {more}"),
    N_("{more}, and these hold {held} at once"),
    N_("{count} of these cards do not hold it either"),
    N_("{count} of these cards hold it"),
    N_("measured with other software, which this rests on: {url}"),
    N_("{name} may mean {cards} too, of which the answer is nearly the same"),
    N_("{engine} loads {precision} as {loaded}"),
    N_("{words} (--assume {name}=…)"),
    N_("{words}, or --kv-bits"),
    N_("{words}, or --country"),
    N_("weights of the model's config.json × average bits of {precision}"),
    N_("the token embeddings stay with the processor: {source} (--embedding cards)"),
    N_("{layers} of {all} layers' {what} stay with the processor"),
    N_("{engine} takes {share} of it and {own} GB of that for itself ({source}); {rest}"),
    N_("{engine} takes {share} of it and {own} GB of that for itself ({source})"),
    N_("weights, {used} of {all} experts a token, and the cache that is held on average"),
    N_("seconds of a step at {rate} GB/s and at the matrix rate of the data sheet, the longer of them"),
    N_(
        "bytes × how much longer than the data sheet says + layers × seconds a layer + handovers between cards, "
        "fitted to {count} measurements of {cards} cards: {source} (transform/speed/calibration.toml)"
    ),
    N_("nobody measured this: {words}"),
    N_("the processor reads at {words}"),
    N_("layers of a mixture: {words}"),
    N_("80% of cases: e^({power}), {why}"),
    N_("tera-operations a second by the fit to {count} measurements ({source})"),
    N_("the hours of use, at the price of {where}"),
    N_("every hour of whole terms, used or not, at the price of {where}"),
    N_("the price as it is offered: {where}"),
    N_("the part of the time in which is written ({share})"),
    # Texts of `size` and `doctor`.
    N_("memory to train with {way}"),
    N_("parameters of {part}"),
    N_("at {precision}, {bits} bits a weight"),
    N_("at {bits} bits"),
    N_("after {tokens} tokens × {batch}, exact"),
    N_("{tokens} tokens × {batch}, exact"),
    N_("{tokens} tokens × {batch}"),
    N_("rank {rank}, 16-bit weights, adamw"),
    N_("attention × heads, FFN of two matrices; {tokens} tokens"),
    N_("an adapter on {targets} over weights of 16 bits, AdamW"),
    N_("an adapter on {targets} over weights in NF4, AdamW"),
    N_("{count} weights are trained"),
    N_("{batch} × {tokens} tokens in a step of each card, layers' activations computed again"),
    N_("key of {source}"),
    N_("robots of {source}"),
    N_("terms of {source}"),
)
#: Texts that stand alone or are parts of other texts.
_WHOLE = (
    N_("one card"),
    N_("each card holds a share of the layers: memory adds up, one sequence is no faster"),
    N_("each card holds a share of the layers and works on another sequence"),
    N_("each card holds a part of every layer (tensor parallel)"),
    N_("two thirds of a memory shared with the processor (Metal)"),
    N_("three quarters of a memory shared with the processor"),
    N_("its size less the sixteenth that error correction takes"),
    N_("its size in decimal gigabytes"),
    N_("its size less what drivers keep"),
    N_("memory.total of nvidia-smi, as public reports of this card print it"),
    N_("memory.total of nvidia-smi by our own list of 2026-11, no published figure"),
    N_("VRAM total of rocm-smi by our own list of 2026-11, no published figure"),
    N_("all weights on the cards"),
    N_("this card is among them"),
    N_("this card is not among them, others of its architecture are"),
    N_("no card of its architecture is among them, so the range is wide"),
    N_("none of its architecture"),
    N_("others of its architecture"),
    N_("this card"),
    N_("the experts"),
    N_("weights and cache"),
    N_("slot_share of link_gb_s, the host's slots, without the bridge that joins some of them"),
    N_("slot_share of link_gb_s, the host's slots"),
    N_("the matrix rate of this card at this precision is not known, so reading has no bound"),
    N_("weights, cache, and activations of each card"),
    N_("experts"),
    N_("layers"),
    N_(
        "users × tokens at once × (residual stream twice + the widest projection) × 2 bytes, and 4 bytes a word "
        "of the vocabulary for the scores (Dao et al. 2022 keep no others)"
    ),
    N_(
        "layers × elements kept of a token × tokens, for each user (Pope et al. 2022), and what layers with a "
        "state keep of each sequence"
    ),
    N_("layers × elements kept of a token × tokens, for each user (Pope et al. 2022)"),
    N_("weights, and the cache that is held on average"),
    N_("measured on this card, as published"),
    N_("for several users together"),
    N_("for one user"),
    N_("never above its bound, nor above what a card of more bandwidth was measured at"),
    N_("computing for several users at half of the 16-bit rate"),
    N_("Amdahl 1967 with exchanges in every layer"),
    N_("the cards work on parts of every layer"),
    N_("what the measurements of this warehouse say of the program beside that (core.calibration)"),
    N_("the spread of held-out measurements"),
    N_("own choice, wide on purpose"),
    N_("two runs of one benchmark on one card"),
    N_("the bound, which lies below the upper end of the range"),
    N_("the same upwards"),
    N_("every matrix and the attention of a prompt of that length, counted from the shape"),
    N_(
        "half of the 16-bit matrix rate, divided by the cards or prompt after prompt through them, and the slot "
        "for what stays with the processor"
    ),
    N_("the prompt is read, then a step of all"),
    N_("every user is answered once"),
    N_("while a prompt is read nobody writes"),
    N_("an answer by the time in which it is written"),
    N_("answers of a round by its time"),
    N_("weights and activations: `gpuledger size` names both"),
    N_("of the model and of what is trained beside it"),
    N_("2 bytes of each trained weight"),
    N_("4 bytes of each trained weight (mixed precision)"),
    N_("8 bytes of each trained weight (AdamW; Rajbhandari et al. 2020)"),
    N_("2 bytes × tokens × hidden × layers, 8 bytes × tokens × vocabulary for scores and their gradient"),
    N_("the first four are divided among the cards"),
    N_("the offer below"),
    N_("the price as it is offered"),
    N_("price × part that is kept each year, of this card's own price history where that is long enough"),
    N_("cards + machine + electricity + what else − what they bring"),
    N_("it is in the price"),
    N_("power limit of the card × share × cards + machine, through the supply"),
    N_("all of it is put on what is written, for one user"),
    N_("active parameters"),
    N_("longest context"),
    N_("key-value cache per token"),
    N_("state per sequence"),
    N_("activations"),
    N_("memory to run"),
    N_("operations to read the prompt"),
    N_("the same by 2 × parameters × tokens"),
    N_("operations to write a token"),
    N_("published method (Park 2023), per token"),
    N_("published method (Park 2023)"),
    N_("difference to the exact count"),
    N_("exact count as that method counts positions"),
    N_("weights without text encoders"),
    N_("exact, counted from the shape"),
    N_("that one token uses"),
    N_("however long the sequence is"),
    N_("an estimate, on each card"),
    N_("of 10^9 bytes; driver and runtime take more"),
    N_("16-bit mixed precision"),
    N_("rule of thumb"),
    N_("all pairs of tokens, scores of all positions"),
    N_("of all parts"),
    N_("where they leave the card after their work"),
    N_("all weights, AdamW in 16-bit mixed precision (16 bytes a weight)"),
    N_("several cards divide weights, gradients and optimizer (ZeRO stage 3)"),
    N_("bytes"),
    N_("packages"),
    N_("data directory"),
    N_("disk"),
    N_("disk clock"),
    N_("clock"),
    N_("warehouse"),
    N_("write-ahead logs"),
    N_("lock"),
    N_("leftovers"),
    N_("last run"),
    N_("schedule"),
    N_("watches"),
    N_("notifications"),
    N_("browser"),
    N_("records"),
    N_("base"),
    N_("sums"),
    N_("archive"),
    N_("free"),
    N_("hidden already spans all heads, so attention must not be multiplied by them"),
    N_("attention has four projections (query, key, value, output), not one"),
    N_("the score and value products between tokens are left out"),
    N_("SwiGLU has three matrices, not two"),
    N_("the output projection over the vocabulary is left out"),
    N_("other shapes than the document's own model"),
    N_("tokens"),
)
#: Names of figures, and units that are words.
_FIGURES = (
    N_("weights"),
    N_("weights on the cards"),
    N_("key-value cache"),
    N_("activations on each card"),
    N_("needed"),
    N_("usable"),
    N_("read from the cards for a token of each"),
    N_("bound"),
    N_("written"),
    N_("written, as answered"),
    N_("time of a step"),
    N_("times faster together"),
    N_("time of a step, divided"),
    N_("time of a step with its experts"),
    N_("time of a step, as measured here"),
    N_("low"),
    N_("high"),
    N_("operations of a prompt token"),
    N_("reads"),
    N_("time until the first token"),
    N_("a round"),
    N_("each user sees"),
    N_("all together"),
    N_("gradients"),
    N_("32-bit copies"),
    N_("optimizer"),
    N_("activations of each card"),
    N_("hours"),
    N_("total"),
    N_("cards"),
    N_("machine"),
    N_("sold at the end"),
    N_("what else"),
    N_("power while busy"),
    N_("power while waiting"),
    N_("electricity"),
    N_("a million tokens written"),
    N_("times"),
)


def reckoned(text: str) -> str:
    """`text` in the language in use. The parts that fill its gaps are looked up too, and several sentences one by one."""
    if current() == "en" or knows(text):
        return gettext(text)
    first, between, other_sentences = text.partition("; ")
    if between and knows(first):
        return f"{gettext(first)}; {reckoned(other_sentences)}"
    for template, pattern in _patterns():
        if match := pattern.fullmatch(text):
            return gettext(template).format(**{name: reckoned(part) for name, part in match.groupdict().items()})
    return f"{reckoned(first)}; {reckoned(other_sentences)}" if between else text


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (template, re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+?)", re.escape(template)))) for template in _FILLED
    )
