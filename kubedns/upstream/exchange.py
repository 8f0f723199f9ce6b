"""What is asked of a server, and what counts as its reply."""

from __future__ import annotations

from dataclasses import dataclass

from kubedns.dns.answer import Rcode
from kubedns.dns.edns import Option
from kubedns.dns.reply import Reply, UnreadableReplyError, query_octets, read_reply


@dataclass(frozen=True, slots=True)
class UpstreamAddress:
    """A server that is asked. ``server_name``: whom its certificate must name; empty: its address."""

    host: str
    port: int = 53
    over_tls: bool = False
    server_name: str = ""

    def __str__(self) -> str:
        where = f"{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"
        return f"tls://{where}" if self.over_tls else where


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked: the question section, and the two of the client's flags that change the answer.

    ``edns``: whether an OPT goes with it, which some old servers do not bear, with ``options``. ``recursion_desired``:
    as in the flag RD.
    """

    question: bytes
    dnssec_ok: bool = False
    checking_disabled: bool = False
    edns: bool = True
    recursion_desired: bool = True
    options: tuple[Option, ...] = ()

    def query(self, ident: int) -> bytes:
        """The message that asks it."""
        return query_octets(
            ident,
            self.question,
            dnssec_ok=self.dnssec_ok,
            checking_disabled=self.checking_disabled,
            recursion_desired=self.recursion_desired,
            edns=self.edns,
            options=self.options,
        )

    def reply(self, octets: bytes) -> Reply | None:
        """The reply in ``octets``, whose ID is ours; None if it is to anything else, or cannot be read."""
        try:
            reply = read_reply(octets)
        except UnreadableReplyError:
            return None
        is_formerr = reply.rcode == Rcode.FORMERR and not reply.question
        return reply if is_formerr or reply.question == self.question else None


class UpstreamError(Exception):
    """No usable reply; ``str()`` says why."""
