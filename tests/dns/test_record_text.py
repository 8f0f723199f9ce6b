import pytest

from kubedns.dns.record_text import BadRecordError, parse_record

RECORDS = [
    ("a.test. 60 IN A 10.0.0.1", "a.test. 60 IN A 10.0.0.1"),
    ("a.test IN 1h AAAA ::1", "a.test. 3600 IN AAAA ::1"),
    ("a. CNAME b", "a. 3600 IN CNAME b."),
    ("test. 60 IN SOA ns.test. admin.test. (1 2 3 4 5)", "test. 60 IN SOA ns.test. admin.test. 1 2 3 4 5"),
    ('a. 5 in txt "x y" z', 'a. 5 IN TXT "x y" "z"'),
    ("_x._tcp.a. 5 IN SRV 1 2 3 b.", "_x._tcp.a. 5 IN SRV 1 2 3 b."),
    ("a. 5 IN MX 10 b.", "a. 5 IN MX \\# 5 000a016200"),
]


@pytest.mark.parametrize(("text", "line"), RECORDS)
def test_a_record_is_read(text: str, line: str) -> None:
    assert list(parse_record(text).lines()) == [line]


@pytest.mark.parametrize(
    "text",
    ["", "a.", "a. 60", "a. 60 IN", "a. 60 IN A", "a. IN A 10.0.0", "a. IN A 10.0.0.256", "a. CH TXT x", "a..b. A ::1",
     "a. IN A 10.0.0.1 10.0.0.2", "a. IN A 10.0.0.1\nb. IN A 10.0.0.1", "a. IN WHAT x", "a. 99999999999 IN A 10.0.0.1"],
)  # fmt: skip
def test_what_is_no_record_is_refused(text: str) -> None:
    with pytest.raises(BadRecordError):
        parse_record(text)
