"""The texts of the report: those in its scripts, and those for the codes of the warehouse."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping

#: A text in the scripts: `_("…")`, with the text in the form of a JSON string.
_TEXT = re.compile(r'\b_\(("(?:[^"\\\n]|\\.)*")')


def of_scripts(scripts: Iterable[str]) -> list[str]:
    """Every text that the scripts have translated."""
    return sorted({json.loads(text) for script in scripts for text in _TEXT.findall(script)})


def values(_: Callable[[str], str]) -> Mapping[str, Mapping[str, str]]:
    """The texts for codes of the warehouse, by vocabulary and code, in the language of `_`."""
    return {
        "advice": {
            "buy": _("buy"), "unjudged": _("good value"), "wait": _("wait"), "other": _("another card"),
            "unmeasured": _("not measured"), "no_price": _("no price"),
        },
        "change": {
            "appeared": _("appeared"), "returned": _("returned"), "price": _("price"),
            "availability": _("availability"), "ended": _("ended"),
        },
        "pricing": {
            "on_demand": _("on demand"), "spot": _("spot"), "reserved_1y": _("reserved, 1 year"),
            "reserved_3y": _("reserved, 3 years"),
        },
        "status": {
            "ok": _("ok"), "partial": _("partial"), "degraded": _("degraded"), "failed": _("failed"),
            "refused": _("refused"),
            "published": _("published"), "published_with_failures": _("published, with a source that failed"),
        },
        "match": {
            "matched": _("matched"), "ambiguous": _("ambiguous"), "unmatched": _("unmatched"), "not_a_gpu": _("not a GPU"),
        },
        "kind": {
            "listing": _("listing"), "score": _("score"), "index_price": _("published price"),
            "token_price": _("token price"), "cloud_offer": _("cloud offer"),
        },
        "claim": {"own": _("own"), "published": _("as published"), "vendor": _("vendor's claim")},
        "verdict": {
            "agrees": _("agrees"), "erratum": _("known erratum"), "differs": _("differs"),
            "not verifiable": _("not verifiable"), "input missing": _("input missing"),
        },
        # Why an offer does not count (core.offer, mart.node_offer), and the conditions that do not count as a new card.
        "left_out": {
            "several GPUs in one product": _("several GPUs in one product"),
            "condition not stated": _("condition not stated"), "source too old": _("source too old"),
            "out of stock": _("out of stock"), "preorder": _("preorder"), "unknown": _("availability unknown"),
            "marketplace seller": _("marketplace seller"), "grey import": _("grey import"),
            "tax not stated": _("tax not stated"), "price held": _("price held"),
            "not confirmed": _("not seen in the newest batch"), "no price": _("no price"),
            "from price": _("starting price"), "list price": _("list price"), "monthly price": _("monthly price"),
            "bundle price": _("price of a bundle"), "no exchange rate": _("no exchange rate"),
            "far above launch price": _("far above launch price"), "far below launch price": _("far below launch price"),
            "suspect price": _("suspect price"),
            "beyond what a card costs": _("beyond what a card costs"),
            "GPU not certain": _("GPU not certain"), "number of GPUs not stated": _("number of GPUs not stated"),
            "a card with other goods, no machine": _("a card with other goods, no machine"),
            "far above any price": _("far above any price"),
            "used": _("used"), "refurbished": _("refurbished"), "open_box": _("open box"),
        },
        "condition": {
            "new": _("brand new"), "used": _("used"), "refurbished": _("refurbished"), "open_box": _("open box"),
            "unknown": _("condition not stated"),
        },
        "availability": {
            "in_stock": _("in stock"), "out_of_stock": _("out of stock"), "preorder": _("preorder"), "quoted": _("quoted"),
            "unknown": _("availability unknown"),
        },
        "model_kind": {
            "decoder": _("writes text"), "encoder": _("reads text"), "encoder_decoder": _("reads and writes text"),
            "diffusion": _("makes images"),
            "video": _("makes video"),
        },
        "basis_of_speed": {
            "measured": _("measured"), "calibrated": _("reckoned from measurements"), "bound": _("reckoned from a bound"),
        },
        "fit": {"fits": _("fits"), "tight": _("fits tightly"), "no": _("does not fit")},
        "mark": {
            "stale": _("stale"), "invented": _("invented"), "launch price": _("launch price"),
            "street price": _("street price"),
        },
        "cheaper": {"buy": _("owning"), "rent": _("renting")},
    }  # fmt: skip
