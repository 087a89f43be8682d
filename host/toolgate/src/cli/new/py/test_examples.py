from pathlib import Path

import pytest
from __SERVICE__ import plugin
from toolgate_plugin import testing

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


@pytest.mark.parametrize("file", testing.examples(EXAMPLES), ids=lambda file: file.stem)
def test_example_is_answered_as_written(file):
    testing.replay(plugin, file)


def test_every_tool_has_an_example_that_succeeds():
    assert testing.without_example(plugin, EXAMPLES) == []
