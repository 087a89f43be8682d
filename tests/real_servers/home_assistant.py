"""Prints what some integrations of an installed Home Assistant need, as their manifests say it.

Home Assistant installs that itself when it starts, unless it is told not to.
"""

import importlib.util
import json
import pathlib

# Those of the test's configuration, of the demo's entities, and one that Home Assistant always loads.
WANTED = ["api", "automation", "backup", "calendar", "camera", "conversation", "demo", "history", "logbook", "recorder"]
WANTED += ["scene", "script", "tts"]

spec = importlib.util.find_spec("homeassistant")
components = pathlib.Path(spec.submodule_search_locations[0]) / "components"
# The list of services loads it where it is there (since 2024.10).
WANTED += [name for name in ["assist_satellite"] if (components / name).exists()]
known = {}
while WANTED:
    name = WANTED.pop()
    if name not in known:
        known[name] = json.loads((components / name / "manifest.json").read_text())
        WANTED += known[name].get("dependencies", [])
print(*sorted({line for manifest in known.values() for line in manifest.get("requirements", [])}), sep="\n")
