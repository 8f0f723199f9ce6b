import ipaddress
import math
from enum import Enum

import pytest

from kubedns.corefile.blocks import Word
from kubedns.corefile.shapes import OneWord
from kubedns.corefile.values import Address, Choice, Count, Duration, Network, Path, Pattern, Seconds, Size, Text
from kubedns.errors import ConfigurationError, Location


class Colour(Enum):
    RED = "red"
    GREEN = "green"


def word(text: str, written: str = "", quoted: bool = False) -> Word:
    return Word(text, Location("Corefile", 1, 1, written or text), quoted)


READ: list[tuple[OneWord[object], str, object]] = [
    (Text(), "x", "x"),
    (Path(), "a b", "a b"),
    (Count(), "0", 0),
    (Count(1, 3), "3", 3),
    (Seconds(), "2147483647", 2147483647),
    (Size(), "512", 512),
    (Size(), "64K", 65536),
    (Size(), "64KiB", 65536),
    (Size(), "16m", 16 << 20),
    (Size(), "1GB", 1 << 30),
    (Duration(), "5s", 5.0),
    (Duration(), "1m30s", 90.0),
    (Duration(), "1.5h", 5400.0),
    (Duration(), ".5s", 0.5),
    (Duration(), "500ms", 0.5),
    (Duration(), "10us", 1e-5),
    (Duration(), "10µs", 1e-5),
    (Duration(), "1h0m5s", 3605.0),
    (Duration(), "30", 30.0),
    (Duration(), "0", 0.0),
    (Duration(1, 10), "10s", 10.0),
    (Choice(Colour), "red", Colour.RED),
    (Choice(Colour), "GREEN", Colour.GREEN),
    (Address(), "10.0.0.1", ipaddress.ip_address("10.0.0.1")),
    (Address(), "2001:DB8::1", ipaddress.ip_address("2001:db8::1")),
    (Network(), "10.1.2.3/8", ipaddress.ip_network("10.0.0.0/8")),
    (Network(), "::1", ipaddress.ip_network("::1/128")),
]


@pytest.mark.parametrize(("value", "text", "expected"), READ)
def test_values_are_read(value: OneWord[object], text: str, expected: object) -> None:
    found = value.convert(word(text))
    assert type(found) is type(expected)
    assert math.isclose(found, expected) if isinstance(found, float) else found == expected  # type: ignore[arg-type]


REFUSED: list[tuple[OneWord[object], str, str]] = [
    (Count(), "-1", "`-1` is no whole number; NUMBER: 0 or more"),
    (Count(), "1.5", "`1.5` is no whole number; NUMBER: 0 or more"),
    (Count(1, 3), "٣", "`٣` is no whole number; NUMBER: 1 to 3"),
    (Count(1, 3), "0", "`0` is less than 1"),
    (Count(1, 3), "4", "`4` is more than 3"),
    (Count(), "9" * 5000, f"`{'9' * 5000}` is no whole number; NUMBER: 0 or more"),
    (Seconds(), "2147483648", "`2147483648` is more than 2147483647"),
    (Size(), "1T", "`1T` is no size; write a number of octets, or with a unit: 64K, 16M, 1G"),
    (Size(at_most=1024), "2K", "`2K` is more than 1024"),
    (Duration(), "5 s", "`5 s` is no duration; write it like 500ms, 5s or 1m30s"),
    (Duration(), "-5s", "`-5s` is no duration; write it like 500ms, 5s or 1m30s"),
    (Duration(), "1d", "`1d` is no duration; write it like 500ms, 5s or 1m30s"),
    (Duration(), "s", "`s` is no duration; write it like 500ms, 5s or 1m30s"),
    (Duration(), "nan", "`nan` is no duration; write it like 500ms, 5s or 1m30s"),
    (Duration(2), "1s", "`1s` is less than 2"),
    (Choice(Colour), "rde", "`rde` is none of red, green; did you mean `red`?"),
    (Choice(Colour), "blue", "`blue` is none of red, green"),
    (Address(), "10.0.0.0/8", "`10.0.0.0/8` is no address; write it like 10.0.0.1 or 2001:db8::1"),
    (Address(), "010.0.0.1", "`010.0.0.1` is no address; write it like 10.0.0.1 or 2001:db8::1"),
    (Network(), "10.0.0.0/33", "`10.0.0.0/33` is no network; write it like 10.0.0.0/8 or 2001:db8::/32"),
    (Pattern(), "[[:alpha:]]", "`[[:alpha:]]` is no regular expression: Possible nested set at position 1"),
    (Pattern(), "a(", "`a(` is no regular expression: missing ), unterminated subpattern at position 1"),
]


@pytest.mark.parametrize(("value", "text", "fault"), REFUSED)
def test_values_are_refused(value: OneWord[object], text: str, fault: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        value.convert(word(text))
    assert str(caught.value) == f"Corefile:1: {fault}"


@pytest.mark.parametrize("value", [Text(), Count(), Duration(), Address(), Choice(Colour)])
def test_an_empty_word_is_blamed_on_its_variable(value: OneWord[object]) -> None:
    with pytest.raises(ConfigurationError) as caught:
        value.convert(word("", "{$NO}"))
    assert str(caught.value) == "Corefile:1: `{$NO}` is empty; is the variable set?"


@pytest.mark.parametrize("value", [Text(), Count(), Duration(), Address(), Choice(Colour)])
def test_an_empty_quote_is_no_value(value: OneWord[object]) -> None:
    with pytest.raises(ConfigurationError, match="`` is "):
        value.convert(word("", '""', quoted=True))


def test_a_pattern_is_compiled() -> None:
    assert Pattern().convert(word("^2 .*timeout$")).search("2 a. A: timeout")
