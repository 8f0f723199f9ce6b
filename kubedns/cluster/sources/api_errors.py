"""What an API server, or the way to it, refuses; and what is done about each refusal. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

UNREADABLE, UNTRUSTED, UNSTREAMED = 0, -1, -2
"""What stands for a status where none came, or none that can be read; where a certificate is not believed; and where
a list does not come as the stream that was asked for."""


class ApiError(Exception):
    """No usable reply. ``status``: the HTTP status or an event's ``code``, or one of those above.

    ``retry_after``: seconds that the server asks to be left alone.
    """

    def __init__(self, status: int, message: str, retry_after: float | None = None) -> None:
        self.status = status
        self.message = message
        self.retry_after = retry_after
        super().__init__(f"{status} {message}" if status > 0 else message)


class AccessError(Exception):
    """The kubeconfig, certificates or token cannot be used; ``str()`` says which and why."""


class Step(Enum):
    """What comes next after a refusal."""

    GO_ON = auto()
    """Watch on from the last version that was heard of."""
    LIST_ANEW = auto()
    """That version is too old or unknown: only a list tells what has gone."""
    RENEW = auto()
    """Credentials have expired, or are others by now: read them again, then try again."""
    GIVE_UP = auto()
    """The kind is forbidden, or unknown to the server: what needs it waits long between tries, or goes without."""


@dataclass(frozen=True, slots=True)
class Reaction:
    """``step``, and whether it is taken at once where this is the first failure in a row."""

    step: Step
    at_once: bool = False


_GONE = Reaction(Step.LIST_ANEW, at_once=True)
_REACTIONS: dict[int, Reaction] = {
    UNTRUSTED: Reaction(Step.RENEW),
    400: Reaction(Step.LIST_ANEW),
    401: Reaction(Step.RENEW, at_once=True),
    403: Reaction(Step.GIVE_UP),
    404: Reaction(Step.GIVE_UP),
    405: Reaction(Step.GIVE_UP),
    410: _GONE,
    422: Reaction(Step.LIST_ANEW),
    504: Reaction(Step.LIST_ANEW),  # "Too large resource version": a replica that is behind, or a restored backup
}
REFUSALS_TO_STREAM = (400, 422, UNSTREAMED)
"""What a server answers that knows streamed lists, or their parameters, and does not do them."""


def reaction(error: ApiError) -> Reaction:
    """What to do after ``error``. Whatever is not known better is tried again from where it was."""
    return _REACTIONS.get(error.status, Reaction(Step.GO_ON))
