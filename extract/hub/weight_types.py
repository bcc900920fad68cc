"""Bits of a weight by the names that safetensors files, and so the model hubs, give the types, and parts of one model.

Source: huggingface/safetensors, README ("Format").
"""

from __future__ import annotations

WEIGHT_BITS = {
    "F64": 64, "I64": 64, "U64": 64, "F32": 32, "I32": 32, "U32": 32, "F16": 16, "BF16": 16, "I16": 16, "U16": 16,
    "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "I8": 8, "U8": 8, "BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6,
}  # fmt: skip

#: The most files that are read or fetched for one model. The largest of 2026 have 200.
MOST_PARTS = 400
TOO_MANY_PARTS = (
    "{what} has {count:,} parts, and over {most} are not read: give one config.json, or a file of fewer parts"
)
