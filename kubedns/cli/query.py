"""``kubedns query``: a question to any DNS server, with the time it took."""

from __future__ import annotations

import ipaddress
import json

import click
import dns.message
import dns.name
import dns.rcode

from kubedns.cli.asked_name import read_question
from kubedns.cli.defaults import OWN_PORT
from kubedns.cli.query_exchange import Exchange, Server, ask
from kubedns.cli.query_output import exchange_json, exchange_text
from kubedns.cli.status import Status

UDP_OCTETS = 1232


@click.command("query")
@click.argument("name")
@click.argument("type_", metavar="[TYPE]", required=False)
@click.option("--server", help="Address of the server. [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(1, 65535), help="Its port. [default: 53; 1053 without --server]")
@click.option(
    "--tcp", is_flag=True, help="Ask over TCP; else over UDP, and again over TCP where the answer is cut off."
)
@click.option("--edns/--no-edns", default=True, show_default=True, help="Send EDNS(0).")
@click.option("--dnssec", is_flag=True, help="Set DO: ask for signatures.")
@click.option(
    "--timeout", type=click.FloatRange(0, min_open=True), default=5.0, show_default=True, help="Seconds to wait."
)
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--fail", is_flag=True, help="Exit with 1 where no record of the name is in the answer.")
def command(
    name: str,
    type_: str | None,
    server: str | None,
    port: int | None,
    tcp: bool,
    edns: bool,
    dnssec: bool,
    timeout: float,
    output: str,
    fail: bool,
) -> int:
    """Ask a DNS server for NAME. An address as NAME asks for its PTR records.

    The name is asked for as it is, without a search list. Exit status 3: no response.
    """
    asked, number = read_question(name, type_)
    query = dns.message.make_query(
        dns.name.from_text(asked), dns.rdatatype.RdataType(number), use_edns=0 if edns else False, want_dnssec=dnssec,
        payload=UDP_OCTETS if edns else None,
    )  # fmt: skip
    exchange = ask(query, _server(server, port, timeout), tcp)
    click.echo(json.dumps(exchange_json(exchange)) if output == "json" else exchange_text(exchange))
    return Status.NOT_FOUND if fail and not _has_answer(exchange) else Status.DONE


def _server(address: str | None, port: int | None, timeout: float) -> Server:
    if address is None:
        return Server("127.0.0.1", port or OWN_PORT, timeout)
    try:
        ipaddress.ip_address(address)
    except ValueError as error:
        raise click.BadParameter(f"{address!r} is no IP address", param_hint="--server") from error
    return Server(address, port or 53, timeout)


def _has_answer(exchange: Exchange) -> bool:
    return exchange.response.rcode() == dns.rcode.NOERROR and bool(exchange.response.answer)
