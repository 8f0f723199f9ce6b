"""What the admin endpoint of ``kubedns serve`` tells: for ``explain`` a text as it is shown, for ``records`` rows.

::

    /explain?name=NAME[&type=TYPE][&namespace=NAMESPACE][&search=DOMAIN...][&ndots=N][&output=text|json][&color=yes]
    /records[?only=ZONE]

What cannot be told is a line that says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from itertools import islice

import click

from kubedns.cli.asked_name import read_domains, read_namespace, read_question
from kubedns.cli.explaining import explain, shown, status_of
from kubedns.cli.explanation import Asked
from kubedns.cli.loaded import listed_clusters
from kubedns.cli.program import line_and_status
from kubedns.cli.record_rows import Row, listed, written, zone_of
from kubedns.cli.search_list import MAX_NDOTS, POD_NDOTS
from kubedns.cli.status import Status
from kubedns.errors import KubednsError
from kubedns.server.admin import AdminPage, Parameters, Told
from kubedns.server.server import Server

_ROWS_AT_ONCE = 32
"""They take a millisecond or so, in which no query is answered."""
_MOST_DOMAINS = 32
"""As many as Kubernetes lets a pod have."""


async def _explain(server: Server, parameters: Parameters) -> Told:
    given = _once(parameters, "name", "type", "namespace", "ndots", "output", "color", several=("search",))
    if "name" not in given:
        raise click.BadParameter("parameter `name` is missing")
    output = given.get("output", "text")
    if output not in ("text", "json"):
        raise click.BadParameter(f"output {output!r} is neither text nor json")
    typed, number = read_question(given["name"], given.get("type"))
    search = read_domains(parameters.get("search", ()))
    if len(search) > _MOST_DOMAINS:
        raise click.BadParameter(f"{len(search)} search domains; at most {_MOST_DOMAINS} are looked through")
    asked = Asked(typed, number, read_namespace(given.get("namespace", "default")), search, _ndots(given))
    explanation = await explain(server, asked)
    return Told([shown(explanation, output, given.get("color") == "yes")], status_of(explanation))


async def _records(server: Server, parameters: Parameters) -> Told:
    given = _once(parameters, "only")
    clusters = listed_clusters(server)
    zone = zone_of(clusters, given["only"]) if "only" in given else None
    return Told(_parts(listed([cluster.frozen() for cluster in clusters], zone)))


def _page(tell: AdminPage) -> AdminPage:
    """The page, with whatever is wrong with a request told as a command tells it."""

    async def page(server: Server, parameters: Parameters) -> Told:
        try:
            return await tell(server, parameters)
        except click.BadParameter as error:
            return Told([error.message], Status.BAD_CONFIGURATION, HTTPStatus.BAD_REQUEST)
        except KubednsError as error:
            line, status = line_and_status(error)
            is_unknown = status is Status.UNREACHABLE
            return Told([line], status, HTTPStatus.SERVICE_UNAVAILABLE if is_unknown else HTTPStatus.BAD_REQUEST)

    return page


PAGES: Mapping[str, AdminPage] = {"/explain": _page(_explain), "/records": _page(_records)}
"""By path."""


def _once(parameters: Parameters, *names: str, several: Sequence[str] = ()) -> dict[str, str]:
    """The parameters of these ``names``, given once; there may be ``several`` of others.

    Raises:
        click.BadParameter: one is given more than once, or is none of them.
    """
    for name, values in parameters.items():
        if name not in (*names, *several):
            raise click.BadParameter(f"unknown parameter `{name}`; there is {', '.join((*names, *several))}")
        if len(values) > 1 and name not in several:
            raise click.BadParameter(f"parameter `{name}` is given {len(values)} times")
    return {name: values[0] for name, values in parameters.items() if name in names}


def _ndots(given: Mapping[str, str]) -> int:
    text = given.get("ndots", str(POD_NDOTS))
    if not (text.isascii() and text.isdigit() and int(text) <= MAX_NDOTS):
        raise click.BadParameter(f"ndots {text!r} is no number from 0 to {MAX_NDOTS}")
    return int(text)


def _parts(rows: Iterator[Row]) -> Iterator[str]:
    while part := "".join(map(written, islice(rows, _ROWS_AT_ONCE))):
        yield part
