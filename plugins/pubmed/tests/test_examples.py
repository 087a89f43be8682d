import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HERE / "src"))

from pubmed import plugin  # noqa: E402
from toolgate_plugin import testing  # noqa: E402


@pytest.mark.parametrize("file", testing.examples(HERE / "examples"), ids=lambda file: file.stem)
def test_example_is_answered_as_written(file):
    testing.replay(plugin, file)


def test_every_tool_has_an_example_that_succeeds():
    assert testing.without_example(plugin, HERE / "examples") == []
