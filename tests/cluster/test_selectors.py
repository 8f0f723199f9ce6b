from __future__ import annotations

import pytest

from kubedns.cluster.selectors import BadSelectorError, parse_selector

LABELS = [
    {},
    {"app": "web"},
    {"app": "db"},
    {"app": "web", "tier": "front"},
    {"app": "web", "tier": "back"},
    {"tier": ""},
]

SELECTS = {
    # Which of LABELS, by position. An absent label is not equal to anything, so != and notin select it.
    "": [0, 1, 2, 3, 4, 5],
    "   ": [0, 1, 2, 3, 4, 5],
    "app=web": [1, 3, 4],
    "app==web": [1, 3, 4],
    "app = web": [1, 3, 4],
    "app!=web": [0, 2, 5],
    "app=web,tier=front": [3],
    "app=web , tier != front": [1, 4],
    "app in (web,db)": [1, 2, 3, 4],
    "app in(web)": [1, 3, 4],
    "app in ( db , x )": [2],
    "app notin (web, db)": [0, 5],
    "app,!tier": [1, 2],
    "! app": [0, 5],
    "tier": [3, 4, 5],
    "tier=": [5],
    "tier in (,back)": [4, 5],
    "app in (web,db),tier notin (back)": [1, 2, 3],
    "example.com/part-of=shop": [],
    "!example.com/part-of": [0, 1, 2, 3, 4, 5],
}


@pytest.mark.parametrize("text", SELECTS)
def test_which_labels_match(text: str) -> None:
    selector = parse_selector(text)
    assert [place for place, labels in enumerate(LABELS) if selector.matches(labels)] == SELECTS[text]


@pytest.mark.parametrize(
    "text",
    ["=web", "app=web,", ",", "app in", "app in web", "app in (web", "app on (web)", "app=(web)", "app>1", "a b",
     "app=web db", "app=-x", "!app=web", "app in (a b)", "app=ü", "app\x00=a"],
)  # fmt: skip
def test_what_is_no_selector_is_told(text: str) -> None:
    with pytest.raises(BadSelectorError, match="is no requirement; write"):
        parse_selector(text)


def test_equal_selectors_are_equal_values() -> None:
    assert hash(parse_selector("a in (x,y)")) == hash(parse_selector("a in (y, x)"))
