"""Asking a running server's admin endpoint, for commands that show what it tells."""

from __future__ import annotations

import http.client
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from typing import TypeVar
from urllib.parse import urlencode

import click
import msgspec

from kubedns.cli.addresses import TypedAddress, read_address
from kubedns.cli.defaults import ADMIN_PORT
from kubedns.cli.status import Status
from kubedns.errors import KubednsError, NotFoundError, NotServedError, UnreachableError
from kubedns.server.admin import STATUS_HEADER

Decorated = TypeVar("Decorated")
Parameters = Mapping[str, str | Sequence[str]]

_PATIENCE_SECONDS = 60.0
"""A name of many candidates may be looked up at upstreams that do not answer, one after the other."""
_PART_OCTETS = 64 << 10
_ERRORS: dict[int, type[KubednsError]] = {Status.NOT_FOUND: NotFoundError, Status.UNREACHABLE: UnreachableError}


def _address(ctx: click.Context, param: click.Parameter, value: str | None) -> TypedAddress | None:
    return None if value is None else read_address(value, ADMIN_PORT)


admin_option = click.option(
    "--admin",
    callback=_address,
    metavar="ADDRESS[:PORT]",
    help=f"Ask the server that runs with --admin there, in place of --manifests. [port: {ADMIN_PORT}]",
)
"""``--admin``, as ``admin``."""


@contextmanager
def telling(address: TypedAddress, path: str, parameters: Parameters) -> Iterator[http.client.HTTPResponse]:
    """What the server tells, to be read and decoded within the block.

    Raises:
        UnreachableError: nobody listens there, it is no admin endpoint, or it ends too early.
        KubednsError: it cannot tell that; why, with the error's own class.
    """
    connection = http.client.HTTPConnection(address.host, address.port, timeout=_PATIENCE_SECONDS)
    try:
        connection.request("GET", f"{path}?{urlencode(parameters, doseq=True)}")
        response = connection.getresponse()
        _check(response, address)
        yield response
    except ConnectionRefusedError as error:
        remedy = f"start the server with `kubedns serve --admin {address}`"
        raise UnreachableError(f"nothing listens on {address} (admin)", remedy=remedy) from error
    except TimeoutError as error:
        raise UnreachableError(f"{address} says nothing within {_PATIENCE_SECONDS:g} s") from error
    except http.client.IncompleteRead as error:
        raise UnreachableError(f"{address} has ended before it had told all") from error
    except (http.client.HTTPException, msgspec.DecodeError) as error:
        raise _no_endpoint(address) from error
    except OSError as error:
        raise UnreachableError(f"{address} cannot be reached: {error.strerror or error}") from error
    finally:
        connection.close()


def told(address: TypedAddress, path: str, parameters: Parameters) -> tuple[str, int]:
    """All that the server tells, and what the command ends with.

    Raises: as :func:`telling`.
    """
    with telling(address, path, parameters) as response:
        return response.read().decode(), int(response.headers[STATUS_HEADER])


def lines(response: http.client.HTTPResponse) -> Iterator[bytes]:
    """The lines of what a server tells, as they come; those of the response itself take a cut for its end."""
    rest = b""
    while octets := response.read(_PART_OCTETS):
        *whole, rest = (rest + octets).split(b"\n")
        yield from whole
    if rest:
        yield rest


def _check(response: http.client.HTTPResponse, address: TypedAddress) -> None:
    status = response.headers.get(STATUS_HEADER, "")
    if not status.isdigit():
        raise _no_endpoint(address)
    if response.status != HTTPStatus.OK:
        raise _ERRORS.get(int(status), NotServedError)(response.read().decode())


def _no_endpoint(address: TypedAddress) -> UnreachableError:
    remedy = "name the address that the server got with `--admin`"
    return UnreachableError(f"what listens on {address} is no admin endpoint of kubedns", remedy=remedy)
