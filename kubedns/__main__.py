"""``python -m kubedns``."""

from kubedns.cli.main import run

if __name__ == "__main__":
    run()
