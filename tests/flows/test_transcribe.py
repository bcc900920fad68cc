"""Figures that a person read off a chart: checked line by line, kept with where they came from, read by the next refresh."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gpuledger.extract.readers.transcriptions import COLUMNS, bundled
from gpuledger.flows.cli import cli
from tests.command import rows
from tests.flows.inprocess import refresh
from tests.nights import Night

CHART = {
    "article_url": "http://toms-ai-articles.sample.test/pc-components/gpus/stable-diffusion-benchmarks",
    "chart": "Cards of the new year, 512x512",
    "image_url": "",
    "image_sha256": "",
    "published_on": "2023-11-16",
    "transcribed_on": "2023-11-17",
    "workload_id": "sd-512-image-generation",
    "unit": "it/s",
    "gpu_name": "RTX 4060 Ti 16GB",
    "score": "11.25",
}


def written(file: Path, *figures: dict[str, str]) -> Path:
    cells = [[{**CHART, **figure}[column] for column in COLUMNS] for figure in figures]
    file.write_text("\n".join(",".join(f'"{cell}"' for cell in row) for row in [list(COLUMNS), *cells]) + "\n", "utf-8")
    return file


def transcribe(file: Path, data: Path, *words: str) -> Result:
    return CliRunner().invoke(cli, ["transcribe", str(file), "--data-dir", str(data), *words], standalone_mode=False)


def kept(data: Path) -> list[str]:
    return sorted(path.name for path in (data / "transcriptions").glob("*"))


def test_the_next_refresh_of_the_sample_reads_what_was_stored(nights: dict[int, Night], tmp_path: Path) -> None:
    data = nights[1].copy(tmp_path / "data")
    figure = (
        "SELECT score FROM mart.ranking WHERE gpu_id = 'nvidia-geforce-rtx-4060-ti-16gb' AND workload_id LIKE 'sd-512%'"
    )
    assert rows(data, figure) == []
    result = transcribe(written(tmp_path / "chart.csv", {}), data)
    assert result.return_value == 0, result.output
    refresh(data, 2, only=["toms_ai_articles"])
    assert [float(score) for (score,) in rows(data, figure)] == [11.25]


def test_a_transcription_is_kept_under_its_hash_with_its_provenance(tmp_path: Path) -> None:
    file = written(tmp_path / "chart.csv", {}, {"gpu_name": "RTX 4070", "score": "14.5"})
    result = transcribe(file, tmp_path)
    assert result.return_value == 0
    assert "2 figures of sd-512-image-generation in it/s: Cards of the new year, 512x512" in result.output
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    assert kept(tmp_path) == [f"{sha256[:16]}.csv", f"{sha256[:16]}.json"]
    assert (tmp_path / "transcriptions" / f"{sha256[:16]}.csv").read_bytes() == file.read_bytes()
    told = json.loads((tmp_path / "transcriptions" / f"{sha256[:16]}.json").read_text("utf-8"))
    assert (told["file"], told["sha256"]) == ("chart.csv", sha256)
    (chart,) = told["charts"]
    assert (chart["article_url"], chart["published_on"], chart["figures"]) == (CHART["article_url"], "2023-11-16", 2)
    assert "already stored" in transcribe(file, tmp_path).output


def test_a_name_that_is_taken_is_not_overwritten_silently(tmp_path: Path) -> None:
    first, second = written(tmp_path / "a.csv", {}), written(tmp_path / "b.csv", {"score": "11.75"})
    assert transcribe(first, tmp_path, "--name", "new-cards").return_value == 0
    refused = transcribe(second, tmp_path, "--name", "new-cards")
    assert refused.return_value == 1
    assert "give --replace" in refused.output
    assert (tmp_path / "transcriptions" / "new-cards.csv").read_bytes() == first.read_bytes()
    assert transcribe(second, tmp_path, "--name", "new-cards", "--replace").return_value == 0
    assert (tmp_path / "transcriptions" / "new-cards.csv").read_bytes() == second.read_bytes()


def test_a_figure_that_contradicts_a_stored_one_is_refused(tmp_path: Path) -> None:
    assert transcribe(written(tmp_path / "a.csv", {}), tmp_path, "--name", "first").return_value == 0
    refused = transcribe(written(tmp_path / "b.csv", {"score": "11.75"}), tmp_path, "--name", "second")
    assert refused.return_value == 1
    assert "is 11.75 (sd-512-image-generation, 2023-11-16) here and 11.25" in refused.output
    assert "--name first --replace" in refused.output
    assert kept(tmp_path) == ["first.csv", "first.json"]


def test_a_name_that_means_no_card_for_certain_is_told(tmp_path: Path) -> None:
    result = transcribe(written(tmp_path / "chart.csv", {"gpu_name": "RTX 3060"}, {"gpu_name": "Kettle"}), tmp_path)
    assert result.return_value == 0
    assert "'Kettle' is unmatched" in result.output


@pytest.mark.parametrize(
    ("figures", "problems"),
    [
        ([{"score": "fast"}, {}, {"published_on": "soon"}], ["line 2: score 'fast'", "line 4: published_on 'soon'"]),
        ([{}, {"score": "12"}], ["line 3: RTX 4060 Ti 16GB is 12 here and 11.25 above"]),
        (
            [{}, {"workload_id": "sd-512"}],
            ["line 3: no workload is called 'sd-512'; did you mean sd-512-image-generation?"],
        ),
        ([{"unit": "img/min"}], ["line 2: sd-512-image-generation is measured in it/s, not in 'img/min'"]),
        ([], ["no line below the header"]),
    ],
)
def test_every_problem_is_told_with_its_line_and_nothing_is_stored(
    tmp_path: Path, figures: list[dict[str, str]], problems: list[str]
) -> None:
    refused = transcribe(written(tmp_path / "chart.csv", *figures), tmp_path)
    assert refused.return_value == 1
    for problem in problems:
        assert f"chart.csv, {problem}" in refused.output or f"chart.csv: {problem}" in refused.output
    assert f"{len(problems)} to correct; nothing was stored" in refused.output
    assert kept(tmp_path) == []


def test_a_file_that_is_no_transcription(tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_text("card,price\nRTX 4090,1599\n")
    refused = transcribe(tmp_path / "prices.csv", tmp_path)
    assert refused.return_value == 1
    assert "no column article_url" in refused.output


@pytest.mark.parametrize("name", ["../up", "A b", "", bundled()[0].stem])
def test_a_name_that_cannot_be_used(tmp_path: Path, name: str) -> None:
    refused = transcribe(written(tmp_path / "chart.csv", {}), tmp_path, "--name", name)
    assert refused.return_value == 1
    assert "the name" in refused.output
    assert kept(tmp_path) == []
