"""What the pages of the admin endpoint make of parameters that no command of ours sends."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from urllib.parse import parse_qs

import pytest

from kubedns.cli.admin_pages import PAGES
from kubedns.server.admin import Told
from kubedns.server.build import Settings, build_server
from tests.cli.test_admin import DEMO
from tests.corefile.reading import parse

COREFILE = f"cluster.local {{\n    kubernetes {{\n        manifests {DEMO}\n    }}\n}}\n"


def told(target: str) -> Told:
    path, _, query = target.partition("?")

    async def run() -> Told:
        server = build_server(parse(COREFILE).blocks, Settings())
        await server.load()
        return await PAGES[path](server, parse_qs(query, keep_blank_values=True))

    return asyncio.run(run())


def test_a_name_is_enough() -> None:
    found = told("/explain?name=web.shop")
    assert (found.status, found.http) == (0, HTTPStatus.OK)
    assert "".join(found.parts).startswith("web.shop A, as typed in a pod of namespace default (ndots 5)\n")


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("/explain", "parameter `name` is missing"),
        ("/explain?name=", "empty label in ''"),
        ("/explain?name=a&name=b", "parameter `name` is given 2 times"),
        ("/explain?name=a&manifests=x", "unknown parameter `manifests`; there is name, "),
        ("/explain?name=a&type=nope", "'nope' is no record type"),
        ("/explain?name=a&namespace=a.b", "'a.b' is no name of a namespace"),
        ("/explain?name=a&search=a..b", "empty label in 'a..b'"),
        ("/explain?name=a" + "&search=b" * 33, "33 search domains; at most 32 are looked through"),
        ("/explain?name=a&ndots=16", "ndots '16' is no number from 0 to 15"),
        ("/explain?name=a&ndots=%C2%B2", "ndots '²' is no number"),
        ("/explain?name=a&output=yaml", "output 'yaml' is neither text nor json"),
        ("/records?only=example", "example is none of the cluster's zones; there is cluster.local"),
        ("/records?output=json", "unknown parameter `output`; there is only"),
    ],
)
def test_what_cannot_be_told_is_a_line(target: str, why: str) -> None:
    found = told(target)
    (line,) = found.parts
    assert line.startswith(why)
    assert (found.status, found.http) == (2, HTTPStatus.BAD_REQUEST)
