"""What holds a secret, or may, is for its owner alone, under an umask that closes nothing; what is published is for all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from gpuledger.extract.archive import files
from gpuledger.flows.settings.settings import Settings
from gpuledger.flows.telling import notify
from gpuledger.flows.telling.alerts import newly_true
from gpuledger.warehouse.paths import DataDir
from tests.command import succeeds
from tests.flows.inprocess import refresh


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o022, 0o077, 0o277, 0o777])
def test_a_file_is_never_open(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        folder = tmp_path / "folder"
        folder.mkdir(mode=0o755)
        folder.chmod(0o755)
        files.make_folder(folder)
        files.write(folder / "file", b"secret")
        files.write(folder / "file", b"another")
    finally:
        os.umask(before)
    assert (mode(folder), mode(folder / "file")) == (0o700, 0o600)
    assert [path.name for path in folder.iterdir()] == ["file"]
    assert (folder / "file").read_bytes() == b"another"


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    with pytest.raises(OSError, match="directory"):
        files.write(tmp_path / "file", b"secret")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_night_under_an_umask_of_0(tmp_path: Path) -> None:
    """A first one, and one in folders that an earlier program left open."""
    data = DataDir(tmp_path / "data")
    before = os.umask(0)
    try:
        for folder in (None, data.state, data.snapshots):
            if folder is not None:
                folder.chmod(0o755)
            refresh(data.root, 1, only=("ecb_fx",))
            assert (mode(data.state), mode(data.snapshots)) == (0o700, 0o700)
    finally:
        os.umask(before)
    for file in (data.runs, *data.snapshots.glob("log/*"), *data.snapshots.glob("blobs/*/*")):
        assert mode(file) == 0o600, file
    # Analysts are other users.
    assert mode(data.published) & 0o444 == 0o444
    assert all(mode(file) & 0o444 == 0o444 for file in data.exports.iterdir())


def test_what_waits_for_a_target_is_the_owners(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        left = notify.send(tmp_path / "outbox", [notify.Message("t", "b")], ["json://127.0.0.1:9/path"], 5.0)
        newly_true(tmp_path / "state" / "told.json", {"run:failed": True})
    finally:
        os.umask(before)
    assert left == 1
    (waiting,) = (tmp_path / "outbox").iterdir()
    assert (mode(waiting), mode(waiting.parent)) == (0o600, 0o700)
    assert mode(tmp_path / "state" / "told.json") == 0o600


def test_settings_print_no_password_of_an_address(tmp_path: Path) -> None:
    (tmp_path / "gpuledger.toml").write_text(
        'product_urls = ["https://me:hunter2hunter2@shop.example/p?goodsNo=7&client_secret=abcdefghijk#token=abcdefghijk"]\n'
        'contact = "https://example.org/bot"\n', encoding="utf-8",
    )  # fmt: skip
    for form in ("table", "csv", "json"):
        outcome = succeeds("settings", "--format", form, cwd=tmp_path)
        assert "hunter2" not in outcome.out
        assert "abcdefghijk" not in outcome.out
        assert "goodsNo=7" in outcome.out.replace("\n", "")
    assert "hunter2" in repr(Settings(contact="hunter2"))  # an everyday setting is printed
