"""Corefiles as installers write them (names and addresses are made up) are read, whatever plugins they use."""

from collections import Counter
from pathlib import Path

import pytest

from kubedns.corefile.rules import find_overlaps, find_repeats
from tests.corefile.reading import parse, shown, warnings_of

FOLDER = Path(__file__).parent / "corefiles"
FILES = sorted(FOLDER.glob("*.Corefile"))
ONE_EACH = [file for file in FILES if file.stem[:2] not in ("18", "91")]  # no snippets, no block on one line
ONCE = {"cache", "errors", "hosts", "kubernetes", "loop", "prometheus", "ready", "nsid", "tsig", "view"}


def test_the_files_are_there() -> None:
    assert len(FILES) == 15


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_it_is_read(file: Path) -> None:
    blocks = parse(file.read_text(), environment={"HOME": "/home/me"}).blocks
    assert blocks
    assert all(block.addresses and block.directives for block in blocks)
    assert not find_overlaps(blocks, 53, lambda block: ())
    assert not [fault for block in blocks for fault in find_repeats(block, ONCE)]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_only_doubtful_lines_are_warned_of(file: Path) -> None:
    expected = {"91-oneline-block-refused-by-coredns": 1, "04-k3s": 2, "06-aks": 2}
    assert len(warnings_of(file.read_text())) == expected.get(file.stem, 0)


@pytest.mark.parametrize("file", ONE_EACH, ids=lambda file: file.stem)
def test_no_word_is_lost(file: Path) -> None:
    """Directives and options are counted a second way, by lines, in files where each has one of its own."""
    lines = [line.split() for line in file.read_text().splitlines() if line.strip()]
    expected = Counter(words[0] for words in lines if words[0] not in ("}", "import"))
    found: Counter[str] = Counter()
    for block in parse(file.read_text()).blocks:
        found[block.location.word] += 1
        for directive in block.directives:
            found.update([directive.word.text, *(option.word.text for option in directive.block)])
    assert found == expected


def test_a_snippet_is_put_in_its_places() -> None:
    common = 'errors | log "." { class denial error } | cache 60 | prometheus :9153'.replace('"', "")
    blocks = shown(parse((FOLDER / "18-custom-zonefile-snippet.Corefile").read_text()))
    assert [block.split(" | ", 1)[1].startswith(common) for block in blocks] == [True, True, True]


def test_variables_and_words_of_a_laptop() -> None:
    text = (FOLDER / "19-laptop-outside-cluster.Corefile").read_text()
    assert shown(parse(text, environment={"HOME": "/home/me"})) == [
        "cluster.local.:5300 in-addr.arpa.:5300 ip6.arpa.:5300 | bind 127.0.0.1 | errors | log | "
        "kubernetes cluster.local in-addr.arpa ip6.arpa "
        "{ kubeconfig /home/me/.kube/config dev; pods verified; namespaces shop data } | cache 10"
    ]
