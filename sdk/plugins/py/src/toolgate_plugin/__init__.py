"""Write plugins for toolgate, the tool gateway for software agents.

Read in this order: ``plugin`` (a plugin and its tools), ``schema`` (how a function's parameters become
what a tool takes), ``context`` (what a tool can use during a call), ``http`` (how ``urllib`` sends
requests), ``path`` (paths made of values), ``errors`` and ``output`` (how a tool ends). ``testing`` is
the host of tests; ``guest`` and ``build`` make the component.
"""

from .context import Context
from .errors import ToolError, problem
from .output import Output, page
from .path import path
from .pick import pick, pick_each
from .plugin import Plugin
from .schema import Arg

__all__ = ["Arg", "Context", "Output", "Plugin", "ToolError", "page", "path", "pick", "pick_each", "problem"]
