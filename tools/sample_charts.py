"""Draw the charts of the sample's two AI articles from their transcriptions: `python -m tools.sample_charts`.

In the shape of the real ones: a title and what was run, a bar a card in the colour of its generation, the number at its end.
Prints the hash of each picture, which the transcriptions of the sample name. The pictures are committed; draw them again
after a change of a figure, or of this file.
"""

from __future__ import annotations

import csv
import hashlib
import io
from itertools import groupby
from pathlib import Path

from matplotlib import get_data_path
from PIL import Image, ImageDraw, ImageFont

from gpuledger.extract import source

NIGHT = source.folder("toms_ai_articles") / "sample" / "night1"
FONTS = Path(get_data_path()) / "fonts" / "ttf"
WIDTH, LEFT, TOP, PITCH, BAR = 1_280, 230, 150, 40, 26
GENERATIONS = {"RTX 40": "#8dc153", "RTX 30": "#5c8727"}
#: What stands above the bars: title, and below it what was run.
TITLES = {
    "sd-512-image-generation": ("Stable Diffusion Iterations per Second", "512x512, 100 steps, average of 10 runs"),
    "sd-2048-image-resolution": ("Stable Diffusion Upscaling, Iterations per Second", "768x432 to 2048x1152, 25 steps"),
    "llama-13b-int4-text-generation": ("Text Generation, Tokens per Second", "LLaMA-13B, 4 bits"),
}
#: One unit of the axis and how many of them.
AXES = {
    "sd-512-image-generation": (5.0, 6),
    "sd-2048-image-resolution": (0.5, 8),
    "llama-13b-int4-text-generation": (5.0, 6),
}


def draw(workload: str, rows: list[tuple[str, str]]) -> bytes:
    """The PNG of one chart."""
    heading, small, bold = (
        ImageFont.truetype(str(FONTS / name), size)
        for name, size in (("DejaVuSans-Bold.ttf", 34), ("DejaVuSans.ttf", 22), ("DejaVuSans-Bold.ttf", 19))
    )
    height = TOP + PITCH * len(rows) + 80
    picture = Image.new("RGB", (WIDTH, height), "white")
    pen = ImageDraw.Draw(picture)
    title, subtitle = TITLES[workload]
    pen.text((16, 16), title, "black", heading)
    pen.text((18, 66), subtitle, "black", small)
    step, steps = AXES[workload]
    per_unit = (WIDTH - 60 - LEFT) / (step * steps)
    bottom = TOP + PITCH * len(rows)
    pen.rectangle((LEFT - 1, TOP - 8, WIDTH - 40, bottom), outline="#999999")
    for row, (label, score) in enumerate(rows):
        top = TOP + PITCH * row + (PITCH - BAR) // 2
        end = LEFT + round(float(score) * per_unit)
        colour = next(colour for start, colour in GENERATIONS.items() if label.startswith(start))
        pen.rectangle((LEFT, top, end - 1, top + BAR - 1), fill=colour)
        pen.text((LEFT - 12, top + BAR / 2), label, "black", bold, anchor="rm")
        pen.text((end + 8, top + BAR / 2), score, "black", bold, anchor="lm")
    for mark in range(steps + 1):
        across = LEFT + mark * step * per_unit
        pen.line((across, bottom, across, bottom + 6), "#999999")
        pen.text((across, bottom + 12), f"{mark * step:.1f}", "black", small, anchor="ma")
    out = io.BytesIO()
    picture.save(out, "PNG", optimize=True)
    return out.getvalue()


def main() -> None:
    """Draw all, and write their hashes into the transcriptions of the sample."""
    for path in sorted((NIGHT / "transcriptions").glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        text = path.read_text(encoding="utf-8")
        for (workload, address, before), figures in groupby(
            rows, key=lambda row: (row["workload_id"], row["image_url"], row["image_sha256"])
        ):
            content = draw(workload, [(row["gpu_name"], row["score"]) for row in figures])
            sha256 = hashlib.sha256(content).hexdigest()
            (NIGHT / "images" / address.rpartition("/")[2]).write_bytes(content)
            text = text.replace(before, sha256)
            print(f"{sha256}  {address}")
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
