import pytest

from kubedns.observe.pages import HttpAddress, Reply
from kubedns.plugins.ready import Monitor, Ready

STATES = [
    (Monitor.UNTIL_READY, [["kubernetes"], [], ["kubernetes"]], [(503, "kubernetes"), (200, "OK"), (200, "OK")]),
    (Monitor.CONTINUOUSLY, [[], ["a", "b"], []], [(200, "OK"), (503, "a,b"), (200, "OK")]),
]


@pytest.mark.parametrize(("monitor", "unready", "replies"), STATES)
def test_readiness_is_monitored_as_asked(
    monitor: Monitor, unready: list[list[str]], replies: list[tuple[int, str]]
) -> None:
    states = iter(unready)
    ready = Ready(HttpAddress("", 8181), monitor, lambda: next(states))
    (page,) = ready.pages()
    assert [page.respond() for _ in unready] == [Reply(*reply) for reply in replies]
    ready.stopping()
    assert page.respond() == Reply(503, "stopping")
