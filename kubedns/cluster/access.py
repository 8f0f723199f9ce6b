"""Which API server is asked, and with whose credentials: what a configuration says of it, before anything is read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ApiAccess:
    """An API server. With everything empty it is the one of the cluster that the process runs in.

    ``kubeconfig``: a file, or several with ``:`` between them as in ``$KUBECONFIG``; ``context``: the one that is meant
    (empty: its current one). ``endpoint``: an address in place of a kubeconfig, with the files of a client
    ``certificate``, its ``key``, and the ``authority`` that signed the server's.
    """

    kubeconfig: str = ""
    context: str = ""
    endpoint: str = ""
    certificate: str = ""
    key: str = ""
    authority: str = ""

    def __str__(self) -> str:
        """How people know it."""
        if self.kubeconfig:
            return f"{self.kubeconfig} {self.context}".strip()
        return self.endpoint or "in-cluster"
