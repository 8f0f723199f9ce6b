from pathlib import Path

import pytest

from kubedns.errors import ConfigurationErrors
from kubedns.server.files import DiskFiles, load_corefile
from tests.corefile.reading import shown


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder like a mounted ConfigMap's, with a glob's signs in its own name."""
    made = tmp_path / "[x]*"
    hidden = made / "custom" / "..data"
    hidden.mkdir(parents=True)
    for name, text in (("b.server", "b {\n log\n}\n"), ("a.server", "a {\n import ../x\n}\n")):
        (hidden / name).write_text(text)
        (made / "custom" / name).symlink_to(Path("..data") / name)
    (made / "custom" / "folder.server").mkdir()
    (made / "x").write_text("errors")
    (made / "Corefile").write_text("import custom/*\n{$ZONE} {\n import x\n}\n")
    return made


def test_imports_are_found_beside_the_importing_file(folder: Path) -> None:
    corefile = load_corefile(str(folder / "Corefile"), {"ZONE": "c"})
    assert shown(corefile) == ["a. | errors", "b. | log", "c. | errors"]


def test_folders_hidden_files_and_missing_ones_are_not_found(folder: Path) -> None:
    beside, files = str(folder / "Corefile"), DiskFiles()
    assert files.find("custom/*", beside) == [str(folder / "custom" / name) for name in ("a.server", "b.server")]
    assert files.find("custom/*.override", beside) == []
    assert files.find("custom", beside) == []
    assert files.find("gone", beside) == []
    assert files.find(str(folder / "x"), "/elsewhere/Corefile") == [str(folder / "x")]


def test_what_cannot_be_read_is_a_fault_in_one_line(folder: Path) -> None:
    (folder / "binary").write_bytes(b"\xff\xfe")
    for name, why in (
        ("gone", "No such file or directory"),
        ("custom", "Is a directory"),
        ("binary", "it is no UTF-8 text"),
    ):
        with pytest.raises(ConfigurationErrors) as caught:
            load_corefile(str(folder / name), {})
        assert str(caught.value) == f"cannot read {folder / name}: {why}"


def test_an_import_that_cannot_be_read_names_its_line(folder: Path) -> None:
    (folder / "binary").write_bytes(b"\xff\xfe")
    (folder / "Corefile").write_text("\nimport binary")
    with pytest.raises(ConfigurationErrors) as caught:
        load_corefile(str(folder / "Corefile"), {})
    assert str(caught.value) == (
        f"{folder / 'Corefile'}:2: cannot import `binary`: cannot read {folder / 'binary'}: it is no UTF-8 text"
    )
