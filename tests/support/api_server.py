"""An API server of our own: objects one by one, lists in pages, watches, and any fault that a test asks for."""

from __future__ import annotations

import asyncio
import json
import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from enum import Enum, auto
from typing import Any, NamedTuple

from aiohttp import web

Body = dict[str, Any]
Fault = Callable[[web.Request], Awaitable[web.StreamResponse | None]]
"""What happens to a request in place of an answer; None: it is answered after all."""

PATHS = {
    "Service": "/api/v1/services",
    "EndpointSlice": "/apis/discovery.k8s.io/v1/endpointslices",
    "Endpoints": "/api/v1/endpoints",
    "Namespace": "/api/v1/namespaces",
    "Pod": "/api/v1/pods",
    "Node": "/api/v1/nodes",
    "ServiceImport": "/apis/multicluster.x-k8s.io/v1alpha1/serviceimports",
}
_NAMED = re.compile(r"(?P<root>/.+/)namespaces/(?P<namespace>[^/]+)/(?P<plural>[^/]+)/(?P<name>[^/]+)")


class _Past(NamedTuple):
    """A change of what is at ``path``, and how often all watches had been cut before it."""

    version: int
    path: str
    kind: str
    body: Body
    cuts: int


class Streaming(Enum):
    """What becomes of the wish for a list as a stream: as in Kubernetes from 1.32 on, from 1.27 on, and before that."""

    DONE = auto()
    REFUSED = auto()
    UNKNOWN = auto()


class FakeApiServer:
    """Answers on loopback while it is :meth:`open`.

    ``version`` is that of the newest change. ``missing``: kinds that it does not have. ``faults``: what happens to the
    next requests for a path, one after the other. ``requests``: path and parameters of each. ``token``: what must come
    as a bearer, if set. ``streaming``: what it makes of the wish for a streamed list. ``bookmark_seconds``: how long a
    watch stays without a word.
    """

    def __init__(self) -> None:
        self.version = 100
        self.url = ""
        self.token = ""
        self.missing: set[str] = {"Endpoints", "ServiceImport"}
        self.faults: dict[str, list[Fault]] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.oldest = 0
        self.streaming = Streaming.DONE
        self.bookmark_seconds = 60.0
        self._objects: dict[str, dict[tuple[str, str], Body]] = {path: {} for path in PATHS.values()}
        self._history: list[_Past] = []
        self._changed = asyncio.Event()
        self._cuts = 0
        self._runner: web.AppRunner | None = None

    @asynccontextmanager
    async def open(self, port: int = 0, secured: ssl.SSLContext | None = None) -> AsyncIterator[FakeApiServer]:
        """Listen, on the port of before if it is given; over TLS if it is ``secured``."""
        app = web.Application()
        app.router.add_get("/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, shutdown_timeout=0.01, handler_cancellation=True)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port, ssl_context=secured)
        await site.start()
        found = self._runner.addresses[0][1]
        self.url = f"{'https' if secured else 'http'}://127.0.0.1:{found}"
        try:
            yield self
        finally:
            await self._runner.cleanup()

    async def stop(self) -> None:
        """Be away, as after a crash; :meth:`open` it anew to be back."""
        if self._runner is not None:
            await self._runner.cleanup()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.url.rpartition(":")[2])

    def put(self, body: Body, *, silently: bool = False) -> None:
        """A new or changed object; watches hear of it unless it is ``silently`` put."""
        self.version += 1
        path = PATHS[body["kind"]]
        metadata = {"namespace": "default", **body["metadata"], "resourceVersion": str(self.version)}
        key = (metadata["namespace"], metadata["name"])
        kind = "MODIFIED" if key in self._objects[path] else "ADDED"
        made = {**body, "metadata": metadata}
        self._objects[path][key] = made
        if not silently:
            self._tell(path, kind, made)

    def remove(self, kind: str, namespace: str, name: str, *, silently: bool = False) -> None:
        """An object goes."""
        self.version += 1
        gone = self._objects[PATHS[kind]].pop((namespace, name))
        if not silently:
            gone = {**gone, "metadata": {**gone["metadata"], "resourceVersion": str(self.version)}}
            self._tell(PATHS[kind], "DELETED", gone)

    def say(self, kind: str, line: bytes) -> None:
        """Send a line as it is to those who watch the kind."""
        self.version += 1
        self._history.append(_Past(self.version, PATHS[kind], "", {"line": line.decode("latin-1")}, self._cuts))
        self._wake()

    def fail(self, kind: str, *faults: Fault) -> None:
        """Let the next requests for the kind fail."""
        self.faults.setdefault(PATHS[kind], []).extend(faults)

    def compact(self) -> None:
        """Forget how things were: watches from before are too old."""
        self.oldest = self.version
        self._history = []

    def forget(self) -> None:
        """Know nothing of how things were, without a word, as after a restore from a backup."""
        self._history = []

    def cut(self) -> None:
        """End all watches."""
        self._cuts += 1
        self._wake()

    def _tell(self, path: str, kind: str, body: Body) -> None:
        self._history.append(_Past(self.version, path, kind, body, self._cuts))
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.requests.append((request.path, dict(request.query)))
        faults = self.faults.get(request.path, [])
        if faults and (found := await faults.pop(0)(request)) is not None:
            return found
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if self.token and (scheme.lower(), token) != ("bearer", self.token):
            return status(401, "Unauthorized")
        if named := _NAMED.fullmatch(request.path):
            return self._get(named["root"] + named["plural"], (named["namespace"], named["name"]))
        kind = next((kind for kind, path in PATHS.items() if path == request.path), None)
        if kind is None or kind in self.missing:
            return status(404, "the server could not find the requested resource")
        return await (self._watch(request) if "watch" in request.query else self._list(request))

    def _get(self, path: str, key: tuple[str, str]) -> web.Response:
        found = self._objects.get(path, {}).get(key)
        return status(404, f'"{key[1]}" not found') if found is None else web.json_response(found)

    async def _list(self, request: web.Request) -> web.Response:
        items = [each for each in self._objects[request.path].values() if _selected(request, each)]
        begin, limit = int(request.query.get("continue", "0")), int(request.query.get("limit", "0"))
        end = begin + limit if limit else len(items)
        metadata: Body = {"resourceVersion": str(self.version)}
        if end < len(items):
            metadata["continue"] = str(end)
        return web.json_response({"kind": "List", "metadata": metadata, "items": items[begin:end]})

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        cuts = self._cuts
        query = request.query
        streams = "sendInitialEvents" in query and self.streaming is not Streaming.UNKNOWN
        if streams and (self.streaming is Streaming.REFUSED or query.get("resourceVersionMatch") != "NotOlderThan"):
            return status(422, "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch")
        seen = int(query.get("resourceVersion") or self.version)
        reply = web.StreamResponse()
        await reply.prepare(request)
        if seen < self.oldest:
            await _send(reply, {"type": "ERROR", "object": _status(410, "too old resource version")})
            return reply
        at = next((at for at, past in enumerate(self._history) if past.version > seen), len(self._history))
        if not query.get("resourceVersion"):
            for each in [each for each in self._objects[request.path].values() if _selected(request, each)]:
                await _send(reply, {"type": "ADDED", "object": each})
            if streams:
                await _send(reply, _bookmark(seen, {"k8s.io/initial-events-end": "true"}))
        await self._tell_on(request, reply, at, cuts)
        return reply

    async def _tell_on(self, request: web.Request, reply: web.StreamResponse, at: int, cuts: int) -> None:
        """All events from a place in the history on, until the watches are cut."""
        history = self._history
        while True:
            if history is not self._history:
                history, at = self._history, 0
            while at < len(history) and history[at].cuts <= cuts:
                _, path, kind, body, _ = history[at]
                at += 1
                if path == request.path and "line" in body:
                    await reply.write(body["line"].encode("latin-1"))
                elif path == request.path and _selected(request, body):
                    await _send(reply, {"type": kind, "object": body})
            if cuts != self._cuts:
                return
            try:
                await asyncio.wait_for(self._changed.wait(), self.bookmark_seconds)
            except TimeoutError:
                await _send(reply, _bookmark(self.version, {}))


def _bookmark(version: int, annotations: dict[str, str]) -> Body:
    return {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": str(version), "annotations": annotations}}}


def _selected(request: web.Request, body: Body) -> bool:
    """By the forms of selectors that tests need: a label that must be there, the one namespace, a phase that is not."""
    metadata = body["metadata"]
    fields = {"metadata.namespace": metadata["namespace"], "status.phase": body.get("status", {}).get("phase", "")}
    if not all(each in metadata.get("labels", {}) for each in _parts(request, "labelSelector")):
        return False
    for each in _parts(request, "fieldSelector"):
        name, sign, value = each.partition("!=") if "!=" in each else each.partition("=")
        if (fields[name] == value) is (sign == "!="):
            return False
    return True


def _parts(request: web.Request, parameter: str) -> list[str]:
    return [each for each in request.query.get(parameter, "").split(",") if each]


async def _send(reply: web.StreamResponse, event: Body) -> None:
    await reply.write(json.dumps(event).encode() + b"\n")


def _status(code: int, message: str) -> Body:
    return {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code}


def status(code: int, message: str, headers: dict[str, str] | None = None) -> web.Response:
    """A refusal."""
    return web.json_response(_status(code, message), status=code, headers=headers)


def refusing(code: int, message: str = "no", headers: dict[str, str] | None = None) -> Fault:
    """A fault: a status."""

    async def fault(request: web.Request) -> web.StreamResponse:
        return status(code, message, headers)

    return fault


def saying(octets: bytes, kind: str = "application/json") -> Fault:
    """A fault: a body as it is."""

    async def fault(request: web.Request) -> web.StreamResponse:
        return web.Response(body=octets, content_type=kind)

    return fault


def sending(*chunks: bytes) -> Fault:
    """A fault: these octets, in chunks of HTTP, and nothing more."""

    async def fault(request: web.Request) -> web.StreamResponse:
        reply = web.StreamResponse()
        await reply.prepare(request)
        for chunk in chunks:
            await reply.write(chunk)
            await asyncio.sleep(0)
        await asyncio.sleep(3600)
        return reply

    return fault


async def stuck(request: web.Request) -> web.StreamResponse:
    """A fault: nothing comes."""
    reply = web.StreamResponse()
    await reply.prepare(request)
    await asyncio.sleep(3600)
    return reply


def service(name: str, ip: str = "10.96.0.1", namespace: str = "shop") -> Body:
    """A Service."""
    ports = [{"name": "http", "port": 80}]
    return {
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"clusterIP": ip, "ports": ports},
    }  # fmt: skip


def endpoint_slice(name: str, of: str, *addresses: str, namespace: str = "shop") -> Body:
    """A slice of a Service."""
    return {
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
        "metadata": {"name": name, "namespace": namespace, "labels": {"kubernetes.io/service-name": of}},
        "endpoints": [{"addresses": [address]} for address in addresses], "ports": [{"name": "http", "port": 8080}],
    }  # fmt: skip
