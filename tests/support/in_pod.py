"""What a process finds in a pod: the API server of its cluster, by the environment and mounted files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.api_server import FakeApiServer
from tests.support.certificates import write_certificate

_LOADER = "kubernetes.aio.config.incluster_config.SERVICE_"


def mount_service_account(patch: pytest.MonkeyPatch, folder: Path, token: str) -> None:
    """Have the client find ``token`` and our authority in ``folder``, where a pod has them mounted."""
    write_certificate(folder)
    (folder / "token").write_text(token)
    patch.setattr(f"{_LOADER}TOKEN_FILENAME", str(folder / "token"))
    patch.setattr(f"{_LOADER}CERT_FILENAME", str(folder / "ca.pem"))


def name_api_server(patch: pytest.MonkeyPatch, server: FakeApiServer) -> None:
    """Set the variables that say where the API server is."""
    patch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
    patch.setenv("KUBERNETES_SERVICE_PORT", str(server.port))
