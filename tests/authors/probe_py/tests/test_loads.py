import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from probe_py import plugin  # noqa: E402


def test_it_loads():
    assert plugin.manifest["limits"]["memory_mib"] == 192
