"""Credentials: what is said of an API server → the client configuration to speak to it with, read anew when asked.

The kubernetes package does the reading: kubeconfigs, their exec plugins and certificates, and in a pod the projected
token. It is imported when it is first needed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from kubedns.cluster.access import ApiAccess
from kubedns.cluster.sources.api_errors import AccessError

if TYPE_CHECKING:
    from kubernetes.aio.client import Configuration

_MEMORY = Path("/dev/shm")
"""Where certificates that stand in a kubeconfig are put for the TLS library, which reads files only."""


async def read_configuration(access: ApiAccess) -> Configuration:
    """The client's configuration, read from files (and exec plugins) as they are now.

    Raises:
        AccessError: something cannot be read, or is not there.
    """
    from kubernetes.aio.client import Configuration

    configuration = Configuration()
    configuration.retries = None
    try:
        if access.kubeconfig:
            await _read_kubeconfig(access, configuration)
        elif access.endpoint:
            _use_endpoint(access, configuration)
        else:
            _read_in_cluster(configuration)
    except AccessError:
        raise
    except Exception as error:  # the package raises whatever a strange file makes it stumble over
        raise AccessError(f"{access}: {error}") from error
    return configuration


async def authorization(configuration: Configuration) -> str:
    """The value of the Authorization header; empty where there is none. A projected token is read again each minute.

    Raises:
        AccessError: it cannot be read now.
    """
    try:
        value = await configuration.get_api_key_with_prefix("BearerToken")
    except Exception as error:  # the package raises whatever it stumbles over in a file that is being replaced
        raise AccessError(f"the token cannot be read: {error}") from error
    return (value or "").strip()


async def _read_kubeconfig(access: ApiAccess, configuration: Configuration) -> None:
    from kubernetes.aio.config import load_kube_config

    files = [Path(file).expanduser() for file in access.kubeconfig.split(os.pathsep) if file]
    if not any(file.exists() for file in files):
        raise AccessError(f"no kubeconfig at {access.kubeconfig}")
    await load_kube_config(  # type: ignore[no-untyped-call]
        config_file=os.pathsep.join(map(str, files)),
        context=access.context or None,
        client_configuration=configuration,
        persist_config=False,
        temp_file_path=str(_MEMORY) if os.access(_MEMORY, os.W_OK) else None,
    )


def _use_endpoint(access: ApiAccess, configuration: Configuration) -> None:
    for file in filter(None, (access.certificate, access.key, access.authority)):
        Path(file).read_bytes()
    configuration.host = access.endpoint.rstrip("/")
    configuration.cert_file = access.certificate or None
    configuration.key_file = access.key or None
    configuration.ssl_ca_cert = access.authority or None


def _read_in_cluster(configuration: Configuration) -> None:
    from kubernetes.aio.config import ConfigException, load_incluster_config

    try:
        load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]
    except ConfigException as error:
        remedy = "this is no pod of a cluster: name a kubeconfig"
        raise AccessError(f"no API server is known ({error}); {remedy}") from error
