from __future__ import annotations

from pathlib import Path

import pytest

from kubedns.cluster.sources.files import find_files

TREE = ("a.yaml", "b.yml", "c.json", "d.txt", "e.yaml~", ".f.yaml", "sub/g.yaml", "sub/deep/h.yaml", "..data/i.yaml",
        ".git/j.yaml", "K.YAML", "l.yaml.swp")  # fmt: skip


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in TREE:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return tmp_path


def names(root: Path, *roots: Path) -> list[str]:
    found = find_files(roots)
    assert found.faults == []
    return [str(path.relative_to(root)) for path in found.stamps]


def test_manifests_are_told_by_their_names(tree: Path) -> None:
    assert names(tree, tree) == ["a.yaml", "b.yml", "c.json", "sub/g.yaml", "sub/deep/h.yaml"]


def test_a_file_that_is_given_may_have_any_name(tree: Path) -> None:
    assert names(tree, tree / "d.txt", tree / "sub") == ["d.txt", "sub/g.yaml", "sub/deep/h.yaml"]


def test_links_may_lead_in_circles(tree: Path) -> None:
    (tree / "sub/up").symlink_to(tree)
    (tree / "gone.yaml").symlink_to(tree / "nowhere.yaml")
    assert set(names(tree, tree)) >= {"a.yaml", "sub/g.yaml"}
    assert len(names(tree, tree)) < 20


def test_every_change_changes_the_stamp(tree: Path) -> None:
    path = tree / "a.yaml"
    stamps = [find_files([path]).stamps]
    path.write_text("longer")
    stamps.append(find_files([path]).stamps)
    (tree / "new").write_text("same??")
    (tree / "new").rename(path)
    stamps.append(find_files([path]).stamps)
    assert stamps[0] != stamps[1] != stamps[2]


def test_what_is_gone_from_a_folder_is_gone(tree: Path) -> None:
    found = find_files([tree / "nosuch.yaml", tree / "sub"])
    assert [str(fault) for fault in found.faults] == [f"{tree}/nosuch.yaml: no such file or folder"]
    assert not found.is_unknown(tree / "nosuch.yaml")
    assert len(found.stamps) == 2


def test_what_is_gone_with_its_folder_is_unknown(tree: Path) -> None:
    found = find_files([tree / "nosuch" / "below"])
    assert found.is_unknown(tree / "nosuch" / "below" / "deep" / "a.yaml")
    assert not found.is_unknown(tree / "a.yaml")


def test_what_cannot_be_reached_is_unknown(tree: Path) -> None:
    found = find_files([tree / "a.yaml" / "below"])
    assert [str(fault) for fault in found.faults] == [
        f"{tree}/a.yaml/below: cannot be read: not a directory; what was read before stays"
    ]
    assert found.is_unknown(tree / "a.yaml" / "below")
