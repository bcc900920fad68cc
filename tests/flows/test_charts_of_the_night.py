"""Charts that a night reads by machine: into the figures, below a person's transcription, once a picture."""

from __future__ import annotations

import csv
import dataclasses
import io
import shutil
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from gpuledger.extract.charts import apart
from gpuledger.extract.sample import server
from gpuledger.flows.history.replay import replay, runs_until
from gpuledger.flows.night.context import Context
from gpuledger.flows.night.refresh import run
from gpuledger.warehouse.paths import DataDir
from tests.command import rows, tables
from tests.flows import inprocess
from tests.readings import Readings

SOURCE = "toms_ai_articles"
PICTURE = "http://toms-ai-articles.sample.test/images/sd-512-xformers.png"
UPSCALING = "sd-2048-image-resolution"
PLAN = """article_url = "http://toms-ai-articles.sample.test/pc-components/gpus/stable-diffusion-benchmarks"
published_on = 2023-11-16

[[chart]]
workload = "sd-2048-image-resolution"
caption = "upscaling 768x432"
"""


def _context(data: Path, night: int) -> Context:
    context = inprocess.context(data, night, only=[SOURCE])
    return dataclasses.replace(context, settings=dataclasses.replace(context.settings, read_charts=True))


def _refresh(data: Path, night: int) -> None:
    summary = run(_context(data, night), inprocess.read_with_shared_parsers)
    assert summary.published, summary.why


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, in which a person left one card of the first chart out, misread another, and did not read the second
    chart. Nobody noted the picture of the third.
    """
    folder = inprocess.copy_of_the_site(tmp_path_factory.mktemp("site"))
    path = folder / SOURCE / "sample/night1/transcriptions/stable-diffusion.csv"
    with path.open(encoding="utf-8", newline="") as file:
        read = list(csv.DictReader(file))
    kept = [row for row in read if row["workload_id"] != UPSCALING and row["gpu_name"] != "RTX 3090"]
    for row in kept:
        if row["gpu_name"] == "RTX 3080":
            row["score"] = "14.111"
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(read[0]))
    writer.writeheader()
    writer.writerows(kept)
    path.write_text(out.getvalue(), encoding="utf-8")
    chatbot = path.with_name("chatbot.csv")
    address = "http://toms-ai-articles.sample.test/images/llama-13b-4bit.png"
    chatbot.write_text(chatbot.read_text(encoding="utf-8").replace(address, ""), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def read(site: Path, readings_of_pictures: Readings, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory after a night that read two pictures."""
    if not apart.is_installed():
        pytest.skip("gpuledger[charts] is not installed")
    data = tmp_path_factory.mktemp("read") / "data"
    (data / "charts").mkdir(parents=True)
    (data / "charts" / "upscaling.toml").write_text(PLAN, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "_SITE", site)
        patch.setattr(apart, "read_chart", readings_of_pictures)
        _refresh(data, 1)
    return data


def _score(data: Path, workload: str, gpu_name: str) -> list[tuple[object, ...]]:
    return rows(
        data,
        f"""SELECT score, source_image, snapshot_sha256 FROM core.benchmark_score
            WHERE workload_id = '{workload}' AND gpu_name = '{gpu_name}' AND valid_to IS NULL""",
    )


@pytest.mark.slow
def test_what_only_the_machine_read_counts_with_picture_box_readings_and_residual(read: Path) -> None:
    [(score, image, sha256)] = _score(read, "sd-512-image-generation", "RTX 3090")
    assert (score, image) == (Decimal("17.789"), PICTURE)
    [(first, second, box, residual, status)] = rows(
        read,
        f"""SELECT printed, second_reading, box, residual_px, reading_status FROM core.chart_value
            WHERE snapshot_sha256 = '{sha256}' AND gpu_name = 'RTX 3090'""",
    )
    assert (first, second, status) == ("17.789", "17.789", "accepted")
    left, top, right, bottom = map(float, box.split())
    assert 800 < left < right < 920
    assert 300 < top < bottom < 350
    assert abs(residual) <= 1


@pytest.mark.slow
def test_a_chart_that_nobody_transcribed_is_in_the_rankings(read: Path) -> None:
    found = rows(
        read, f"SELECT gpu_id, score FROM mart.ranking WHERE workload_id = '{UPSCALING}' ORDER BY rank LIMIT 2"
    )
    assert found == [("nvidia-geforce-rtx-4090", Decimal("3.641")), ("nvidia-geforce-rtx-4080", Decimal("2.413"))]
    assert rows(read, f"SELECT count(*) FROM mart.ranking WHERE workload_id = '{UPSCALING}'") == [(13,)]


@pytest.mark.slow
def test_a_persons_figure_stands_above_the_machines_and_an_issue_says_both(read: Path) -> None:
    [(score, _, _)] = _score(read, "sd-512-image-generation", "RTX 3080")
    assert score == Decimal("14.111")
    [(message,)] = rows(read, "SELECT message FROM ops.issue WHERE code = 'chart_differs'")
    assert "RTX 3080 is 14.111 as a person read it and 14.101 as the machine did" in message


@pytest.mark.slow
def test_the_next_night_reads_no_picture_and_imports_nothing_of_it(
    read: Path, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    shutil.copytree(read, data, symlinks=True)
    before = tables(data, "core")
    started: list[int] = []
    monkeypatch.setattr(apart, "read_chart", lambda content: started.append(len(content)))
    monkeypatch.setattr(server, "_SITE", site)
    for name in [name for name in sys.modules if name.partition(".")[0] in ("rapidocr", "onnxruntime", "cv2")]:
        monkeypatch.delitem(sys.modules, name)  # what another test of this process has imported
    _refresh(data, 2)
    assert not started
    assert not {"rapidocr", "onnxruntime", "cv2"} & sys.modules.keys()
    after = tables(data, "core")
    assert after["core.chart_value"] == before["core.chart_value"]
    assert after["core.benchmark_score"] == before["core.benchmark_score"]


@pytest.mark.slow
def test_a_replay_takes_the_readings_from_the_archive(
    read: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apart, "is_installed", lambda: False)
    archive = DataDir(read)
    again = _context(tmp_path / "again", 1)
    replay(again, archive, runs_until(archive, None))
    assert tables(again.data.root)["core.chart_value"] == tables(read)["core.chart_value"]
    assert tables(again.data.root)["core.benchmark_score"] == tables(read)["core.benchmark_score"]


def test_without_the_extra_the_transcription_alone_counts_and_files_of_charts_say_why_and_stop_nothing(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_SITE", site)
    monkeypatch.setattr(apart, "is_installed", lambda: False)
    wrong = {
        "no_such_caption": ("chart_missing", PLAN.replace("upscaling 768x432", "ray tracing")),
        "unknown_key": ("LayoutChanged", PLAN.replace("workload =", "wrokload =")),
        "no_day": ("LayoutChanged", PLAN.replace("2023-11-16", '"yesterday"')),
        "one_table": ("LayoutChanged", PLAN.replace("[[chart]]", "[chart]")),
    }
    data = tmp_path / "data"
    (data / "charts").mkdir(parents=True)
    for name, plan in {"upscaling": PLAN, **{name: plan for name, (_, plan) in wrong.items()}}.items():
        (data / "charts" / f"{name}.toml").write_text(plan, encoding="utf-8")
    _refresh(data, 1)
    assert _score(data, "sd-512-image-generation", "RTX 3090") == []
    assert rows(data, "SELECT count(*) FROM core.chart_value") == [(0,)]
    [(message,)] = rows(data, "SELECT message FROM ops.issue WHERE code = 'chart_unread'")
    assert "pip install 'gpuledger[charts]'" in message
    told = rows(data, "SELECT code, concat_ws(' ', message, url) FROM ops.issue WHERE source = 'toms_ai_articles'")
    for name, (code, _) in wrong.items():
        sign = "ray tracing" if code == "chart_missing" else f"{name}.toml"
        assert [found for found, words in told if sign in words] == [code], name
    transcribed = sum(
        len(path.read_text(encoding="utf-8").splitlines()) - 1
        for path in (site / SOURCE / "sample/night1/transcriptions").glob("*.csv")
    )
    assert rows(data, "SELECT count(*) FROM core.benchmark_score") == [(transcribed,)]
