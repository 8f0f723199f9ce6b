"""Master files that are none: each fault is told with its line."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from kubedns.dns.names import parse_name
from kubedns.zones.masterfile import BadMasterFileError, parse_zone, read_zone
from tests.zones.zones import ORIGIN, TEXT, lines

START = "$TTL 60\n@ SOA ns hostmaster 1 2 3 4 5\n@ NS ns\n"
FAULTS = [
    ("", 0, "no SOA", "begin with one"),
    ("$TTL 60\nwww A 192.0.2.1\n", 0, "no SOA", "begin with one"),
    ("www A 192.0.2.1\n@ 60 SOA ns hostmaster 1 2 3 4 5\n", 1, "TTL", "`$TTL 3600` above"),
    (START + "www A 192.0.2.256\n", 4, "`www A 192.0.2.256`: ", "the fields of that type"),
    (START + "www A\n", 4, "`www A`: ", "the fields of that type"),
    (START + "www NOSUCH x\n", 4, "unknown", "a type such as A"),
    (START + "www CNAME a\nwww A 192.0.2.1\n", 5, "CNAME", "an alias has no records beside it"),
    (START + "www A 192.0.2.1\nwww CNAME a\n", 5, "CNAME", "an alias has no records beside it"),
    (START + "$INCLUDE other\n", 4, "not allowed", "put what it names here"),
    (START + 'www TXT "open\n', 4, "", "the fields of that type"),
    (START + "www TXT (open\n", 4, "parentheses", "close what `(` opens"),
    (START + "www CH A 192.0.2.1\n", 4, "", ""),
    (START + "a A 192.0.2.1\nb A (\n192.0.2.1\n)\nc A 1\nd A 192.0.2.1\n", 8, "`c A 1`: ", ""),
    (START + "a" * 64 + " A 192.0.2.1\n", 4, f"`{'a' * 60}...`: ", "1 to 63 octets"),
    (START + "a..b A 192.0.2.1\n", 4, "label", "1 to 63 octets"),
    (START + "caf\udce9 A 192.0.2.1\nb A 1\n", 4, "the octet 233 is no UTF-8", "save the file as UTF-8"),
]


@pytest.mark.parametrize(("text", "line", "message", "remedy"), FAULTS)
def test_a_fault_is_told_with_its_line_and_what_to_do(text: str, line: int, message: str, remedy: str) -> None:
    with pytest.raises(BadMasterFileError) as error:
        read_zone(text.encode(errors="surrogateescape"), ORIGIN)
    assert message in str(error.value)
    assert error.value.line == line
    assert remedy in error.value.remedy
    assert error.value.remedy
    assert "<file>" not in str(error.value)


def test_records_of_other_zones_are_left_out() -> None:
    assert len(list(parse_zone(START + "www.elsewhere.test. A 192.0.2.1\n", ORIGIN).records())) == 2


def test_names_are_below_the_origin_and_the_root_is_one() -> None:
    zone = parse_zone(START, parse_name("."))
    assert lines(tuple(zone.records())) == [". 60 IN NS ns.", ". 60 IN SOA ns. hostmaster. 1 2 3 4 5"]


@pytest.mark.skipif(not shutil.which("named-checkzone"), reason="no named-checkzone here")
def test_a_foreign_reader_finds_the_same_records(tmp_path: Path) -> None:
    (tmp_path / "ours").write_text("\n".join(lines(tuple(parse_zone(TEXT, ORIGIN).records()))) + "\n")
    (tmp_path / "theirs").write_text(TEXT)
    read = [
        subprocess.run(
            ["named-checkzone", "-q", "-i", "none", "-k", "ignore", "-o", "-", "example.org", str(tmp_path / name)],
            capture_output=True, text=True, timeout=60, check=True,
        ).stdout.splitlines()
        for name in ("ours", "theirs")
    ]  # fmt: skip
    assert sorted(read[0]) == sorted(read[1])
    assert len(read[0]) > 20
