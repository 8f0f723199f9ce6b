from __future__ import annotations

import json

import pytest

from kubedns.cli.explain_json import explanation_json
from tests.cli.explanations import ALL
from tests.support.golden import assert_golden


@pytest.mark.parametrize("name", ALL)
def test_the_keys_and_values_stay_as_they_are(name: str) -> None:
    assert_golden(f"explain-{name}.json", json.dumps(explanation_json(ALL[name]), indent=2) + "\n")
