"""The node that one Pod runs on, asked of an API server once."""

from __future__ import annotations

import ipaddress
from urllib.parse import quote

import msgspec

from kubedns.cluster.access import ApiAccess
from kubedns.cluster.bodies import HostedPodBody
from kubedns.cluster.sources.api_errors import UNTRUSTED, AccessError, ApiError
from kubedns.cluster.sources.apiserver import ApiServer
from kubedns.errors import ConfigurationError, NotFoundError, UnreachableError
from kubedns.observe.metrics import Metrics

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_IDLE_SECONDS = 10.0
_RULE = '{apiGroups: [""], resources: ["pods"], verbs: [get]}'
_BODY = msgspec.json.Decoder(HostedPodBody)


async def pod_host(access: ApiAccess, namespace: str, name: str) -> _Address:
    """The address of the node that runs Pod ``namespace``/``name``: its ``status.hostIP``.

    Raises:
        NotFoundError: there is no such Pod, or no node has it yet.
        ConfigurationError: the server is not known, or does not let us ask it.
        UnreachableError: it gave no usable reply.
    """
    server = ApiServer(access, Metrics())
    path = f"/api/v1/namespaces/{quote(namespace, safe='')}/pods/{quote(name, safe='')}"
    try:
        octets = await server.get(path, {}, "application/json", _IDLE_SECONDS)
    except AccessError as error:
        raise ConfigurationError(str(error)) from error
    except ApiError as error:
        raise _refusal(error, access, f"Pod {namespace}/{name}") from error
    finally:
        await server.close()
    return _host(octets, access, f"Pod {namespace}/{name}")


def _host(octets: bytes, access: ApiAccess, pod: str) -> _Address:
    try:
        status = _BODY.decode(octets).status
        address = status.host_ip if status else None
        if not address:
            raise NotFoundError(f"{pod} has no status.hostIP yet", remedy="no node runs it; try again in a moment")
        return ipaddress.ip_address(address)
    except (msgspec.DecodeError, ValueError) as error:
        raise UnreachableError(f"{access}: what it says of {pod} cannot be read: {error}") from error


def _refusal(error: ApiError, access: ApiAccess, pod: str) -> Exception:
    match error.status:
        case 404:
            remedy = "NAMESPACE and POD_NAME are metadata.namespace and metadata.name of the Pod"
            return NotFoundError(f"{access}: there is no {pod}", remedy=remedy)
        case 401:
            return ConfigurationError(f"{access}: the credentials are refused: {error}", remedy="renew them")
        case 403:
            return ConfigurationError(f"{access}: {pod} may not be read: {error}", remedy=f"allow it by {_RULE}")
        case code if code == UNTRUSTED:
            return ConfigurationError(f"{access}: the server is not trusted: {error}", remedy="name its authority")
        case _:
            return UnreachableError(f"{access}: no answer about {pod}: {error}", remedy="is the API server there?")
