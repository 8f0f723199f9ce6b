"""Corefiles on disk: the door through which the configuration's text comes in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from glob import glob, has_magic
from hashlib import sha512
from pathlib import Path

from kubedns.corefile.blocks import Corefile
from kubedns.corefile.parser import parse_corefile
from kubedns.errors import ConfigurationError, ConfigurationErrors


def load_corefile(file: str, environment: Mapping[str, str], files: DiskFiles | None = None) -> Corefile:
    """What the Corefile at ``file`` says, with its imports; variables are looked up in ``environment``.

    ``files``: what is to do the reading, and knows the digest afterwards.

    Raises:
        ConfigurationErrors: it cannot be read, or has faults; all of them.
    """
    files = files or DiskFiles()
    try:
        text = files.read(file)
    except ConfigurationError as fault:
        raise ConfigurationErrors([fault]) from fault
    return parse_corefile(text, file, files, environment)


class DiskFiles:
    """Files on disk, and a digest of all that was read. ``*`` leaves hidden names out: mounted ConfigMaps have some."""

    def __init__(self) -> None:
        self._hash = sha512()

    @property
    def digest(self) -> str:
        """SHA-512 of the names and contents read so far, in hex."""
        return self._hash.hexdigest()

    def find(self, pattern: str, beside: str) -> Sequence[str]:
        """The files that ``pattern`` names, in order; relative to the folder of ``beside``."""
        folder = Path(beside).parent
        # A file of just that name is meant, whatever signs are in it.
        is_glob = has_magic(pattern) and not (folder / pattern).is_file()
        names = glob(pattern, root_dir=folder) if is_glob else [pattern]
        return sorted(str(folder / name) for name in names if (folder / name).is_file())

    def read(self, file: str) -> str:
        """The text of ``file``.

        Raises:
            ConfigurationError: it cannot be read, or is no UTF-8.
        """
        try:
            octets = Path(file).read_bytes()
            self._hash.update(f"{file} {len(octets)}\n".encode() + octets)
            return octets.decode()
        except OSError as error:
            raise ConfigurationError(f"cannot read {file}: {error.strerror}") from error
        except ValueError as error:
            raise ConfigurationError(f"cannot read {file}: it is no UTF-8 text") from error
