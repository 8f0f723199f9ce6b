import pytest

from kubedns.corefile.blocks import Word
from kubedns.corefile.suggestions import nearest, unknown_plugin
from kubedns.errors import Location

KNOWN = {"kubernetes", "errors", "log", "loadbalance"}


@pytest.mark.parametrize(
    ("text", "guess"),
    [("kubernets", "kubernetes"), ("Error", "errors"), ("logs", "log"), ("load_balance", "loadbalance"), ("zzz", None)],
)
def test_the_nearest_word(text: str, guess: str | None) -> None:
    assert nearest(text, KNOWN) == guess


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("kubernets", "unknown plugin `kubernets`; did you mean `kubernetes`?"),
        ("zzz", "unknown plugin `zzz`; plugins: errors, kubernetes, loadbalance, log"),
    ],
)
def test_an_unknown_plugin(text: str, fault: str) -> None:
    assert str(unknown_plugin(Word(text, Location("Corefile", 3)), KNOWN)) == f"Corefile:3: {fault}"
