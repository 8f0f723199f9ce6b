"""A zone of another server, taken and kept up to date by ours: real processes, knotd the primary."""

from __future__ import annotations

import shutil
import signal
import time
from pathlib import Path

import dns.message
import dns.opcode
import dns.query
import dns.rcode
import dns.zone

from tests.e2e.test_transfer import CLUSTER, MANY, dump, lines_of, transfer, until_answered
from tests.support.knot import knot
from tests.support.process import PATIENCE_SECONDS, Running, free_port, running

COREFILE = """
a.test:{port} {{
    bind 127.0.0.1
    errors
    reload 2s 1s
    transfer {{
        to *
    }}
    secondary {{
        transfer from 127.0.0.1:{primary}
    }}
}}
"""
PRIMARY = """
remote:
  - id: kubedns
    address: 127.0.0.1@{port}
acl:
  - id: taken
    address: 127.0.0.1
    action: transfer
zone:
  - domain: a.test
    storage: {folder}
    file: a.test.zone
    zonefile-load: whole
    notify: kubedns
    acl: taken
"""
ZONE = """
$ORIGIN a.test.
$TTL 60
@ SOA ns host {serial} 7200 1800 86400 5
@ NS ns
ns A 192.0.2.53
web A 192.0.2.{serial}
    AAAA 2001:db8::{serial}
    TXT "a" "b c"
mail MX 10 web
*.wild CNAME web
_http._tcp SRV 0 1 80 web
sub NS ns.sub
ns.sub A 192.0.2.54
odd TYPE65280 \\# 3 010203
"""


def reply_to_notify(server: Running, source: str) -> dns.message.Message:
    message = dns.message.make_query("a.test.", "SOA")
    message.set_opcode(dns.opcode.NOTIFY)
    return dns.query.udp(message, server.address, PATIENCE_SECONDS, port=server.port, source=source)


def test_a_zone_is_followed_through_changes_and_absence(tmp_path: Path) -> None:
    port, primary, folder = free_port(), free_port(), tmp_path / "knot"
    folder.mkdir()
    corefile = tmp_path / "Corefile"
    corefile.write_text(COREFILE.format(port=port, primary=primary))
    (folder / "a.test.zone").write_text(ZONE.format(serial=1))
    rest = PRIMARY.format(port=port, folder=folder)
    with running(["-conf", str(corefile)], port, tmp_path / "log") as server:
        assert server.ask("web.a.test.").rcode() == dns.rcode.SERVFAIL
        with knot(folder, rest, primary) as process:
            until_answered(server, "web.a.test.", "192.0.2.1")
            for serial in (2, 3):
                (folder / "a.test.zone").write_text(ZONE.format(serial=serial))
                process.send_signal(signal.SIGHUP)
                until_answered(server, "web.a.test.", f"192.0.2.{serial}")
            ours = lines_of(transfer(server, "a.test."))
            theirs = lines_of(transfer(Running(server.process, primary, server.log), "a.test."))
            assert sorted(ours) == sorted(theirs)
            written = dns.zone.from_text(ZONE.format(serial=3), "a.test.", relativize=False)
            assert sorted(set(ours)) == sorted(dump(written))
        assert server.ask("x.wild.a.test.").answer[-1][0].to_text() == "192.0.2.3"
        assert reply_to_notify(server, "127.0.0.1").rcode() == dns.rcode.NOERROR
        assert reply_to_notify(server, "127.0.0.2").rcode() == dns.rcode.NOTIMP
        # Another configuration takes over what there is, though nobody could be asked for it.
        corefile.write_text(corefile.read_text().replace("errors", "errors\n    log"))
        server.process.send_signal(signal.SIGUSR1)
        until_taken_over(server)
        assert server.ask("web.a.test.").answer[0][0].to_text() == "192.0.2.3"


def until_taken_over(server: Running) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while "the changed configuration is in force" not in server.log.read_text():
        assert time.monotonic() < deadline, "the configuration was never taken over"
        time.sleep(0.05)


CLUSTER_PRIMARY = """
cluster.local:{port} in-addr.arpa:{port} {{
    bind 127.0.0.1
    transfer {{
        to 127.0.0.1:{secondary}
    }}
    kubernetes {{
        manifests {manifests}
        pods verified
    }}
}}
"""
CLUSTER_SECONDARY = """
cluster.local:{port} in-addr.arpa:{port} {{
    bind 127.0.0.1
    transfer {{
        to *
    }}
    secondary {{
        transfer from 127.0.0.1:{primary}
    }}
}}
"""


def test_a_cluster_is_answered_for_by_a_secondary(tmp_path: Path) -> None:
    first, second = free_port(), free_port()
    (tmp_path / "m").mkdir()
    shutil.copy(CLUSTER, tmp_path / "m" / "cluster.yaml")
    (tmp_path / "1").write_text(CLUSTER_PRIMARY.format(port=first, secondary=second, manifests=tmp_path / "m"))
    (tmp_path / "2").write_text(CLUSTER_SECONDARY.format(port=second, primary=first))
    with (
        running(["-conf", str(tmp_path / "1")], first, tmp_path / "log-1") as primary,
        running(["-conf", str(tmp_path / "2")], second, tmp_path / "log-2") as secondary,
    ):
        until_answered(secondary, "web.shop.svc.cluster.local.")
        for zone in ("cluster.local", "in-addr.arpa"):
            until_same(primary, secondary, zone)
        (tmp_path / "m" / "new.yaml").write_text(MANY.format(number=1, high=0, low=1))
        until_answered(secondary, "web-1.shop.svc.cluster.local.", "10.97.0.1")
        until_same(primary, secondary, "cluster.local")


def until_same(primary: Running, secondary: Running, zone: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while primary.ask(zone, "SOA").answer != secondary.ask(zone, "SOA").answer:
        assert time.monotonic() < deadline, "the secondary never got the zone"
        time.sleep(0.05)
    assert sorted(lines_of(transfer(primary, zone))) == sorted(lines_of(transfer(secondary, zone)))
