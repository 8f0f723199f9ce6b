"""Files are read when they change, come and go; what cannot be read changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubedns.zones.files import WatchedFile, as_it_is


def test_what_is_read_follows_the_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path, taken = tmp_path / "file", list[bytes | None]()
    watched = WatchedFile(path, as_it_is, taken.append)
    watched.look()
    watched.look()
    assert (taken, watched.modified_seconds) == ([None], 0.0)
    path.write_bytes(b"one")
    watched.look()
    watched.look()
    assert taken == [None, b"one"]
    assert watched.modified_seconds == pytest.approx(path.stat().st_mtime)
    other = tmp_path / "other"
    other.write_bytes(b"another")
    path.unlink()
    path.symlink_to(other)
    watched.look()
    path.unlink()
    path.mkdir()
    watched.look()
    watched.look()
    assert taken == [None, b"one", b"another"]
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    path.rmdir()
    watched.look()
    assert taken == [None, b"one", b"another", None]
