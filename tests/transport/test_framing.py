from __future__ import annotations

import pytest

from kubedns.transport.framing import Messages, framed

CASES = {
    "none": [],
    "one": [b"query"],
    "two": [b"one", b"two"],
    "empty": [b""],
    "empty between": [b"one", b"", b"two"],
    "one octet": [b"x"],
    "longest": [b"x" * 65_535],
    "length of high octet": [b"x" * 256, b"y"],
}
TAILS = (b"", b"\0", b"\0\x05", b"\0\x05quer", b"\xff\xff")


def taken(messages: Messages) -> list[bytes]:
    found = []
    while (message := messages.take()) is not None:
        found.append(message)
    return found


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_messages_come_out_however_they_come_in(case: list[bytes], tail: bytes) -> None:
    octets = b"".join(framed(message) for message in case) + tail
    step = max(1, len(octets) // 100)
    for size in (len(octets) or 1, step, 3 * step):
        messages = Messages()
        found: list[bytes] = []
        for at in range(0, len(octets), size):
            messages.feed(octets[at : at + size])
            found += taken(messages)
        assert found == case
        assert bool(messages) == bool(tail)


def test_a_message_is_longer_than_its_length() -> None:
    assert framed(b"abc") == b"\0\x03abc"


def test_what_is_left_is_not_taken_twice_while_more_comes_in() -> None:
    messages = Messages()
    messages.feed(framed(b"one") + framed(b"two"))
    assert messages.take() == b"one"
    messages.feed(framed(b"three"))
    assert taken(messages) == [b"two", b"three"]
    assert not messages
