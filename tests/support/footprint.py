"""What a process takes of its machine, from /proc."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Footprint:
    """Resident memory in KiB, open files and sockets, and seconds of work so far."""

    memory_kib: int
    files: int
    cpu_seconds: float

    def __str__(self) -> str:
        return f"{self.memory_kib / 1024:.1f} MiB, {self.files} files"


def footprint(pid: int) -> Footprint:
    """What the process takes now."""
    process = Path(f"/proc/{pid}")
    memory = process.joinpath("status").read_text().partition("VmRSS:")[2].split()[0]
    times = process.joinpath("stat").read_text().rpartition(") ")[2].split()[11:13]
    work = sum(map(int, times)) / os.sysconf("SC_CLK_TCK")
    return Footprint(int(memory), len(os.listdir(process / "fd")), work)
