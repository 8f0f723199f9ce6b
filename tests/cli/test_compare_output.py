from __future__ import annotations

from kubedns.cli.compare_output import Comparison, comparison_json, comparison_text
from kubedns.cli.comparison import Difference, Part
from tests.cli.test_comparison import ONE, QUESTION, reply

SERVERS = ("192.0.2.1:53", "192.0.2.2:53")


def test_silence_is_told_of_one_server_and_of_both() -> None:
    both = Difference(QUESTION, None, None, (Part.RESPONSE,))
    one = Difference(QUESTION, reply(ONE), None, (Part.RESPONSE,))
    assert list(comparison_text(Comparison(SERVERS, 7, [both, one]))) == [
        "- 192.0.2.1:53",
        "+ 192.0.2.2:53",
        "",
        "web.test. A",
        "  no response from either",
        "",
        "web.test. A",
        "  - response NOERROR",
        "  + response none",
        "",
        "7 questions: 5 answered alike, 2 not",
    ]


def test_silence_is_null_in_json() -> None:
    found = comparison_json(Comparison(SERVERS, 1, [Difference(QUESTION, None, reply(), (Part.RESPONSE,))]))
    assert found == {
        "servers": list(SERVERS),
        "questions": 1,
        "same": 0,
        "different": 1,
        "differences": [
            {
                "name": "web.test.",
                "type": "A",
                "differs": ["response"],
                "responses": [None, {"rcode": "NOERROR", "flags": [], "answer": [], "authority": []}],
            }
        ],
    }
