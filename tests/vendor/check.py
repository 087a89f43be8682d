#!/usr/bin/env python3
"""Holds what every tool would send against the descriptions that the services' vendors publish.

`toolgate plugin plan` makes the requests, without network and credentials: for required and for all arguments, for each
value of an enumeration, for the examples of the tool. The requests of plugins/*/examples are checked too, so that the later
ones of a tool with several are not missed. sources.yaml names the descriptions, accepted.yaml what is known and why.

  check.py --tools DIR [--repositories DIR] [--services a,b] [--report FILE] [--plans FILE] PLUGIN...
"""

import argparse
import glob
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).parent))
import described
from graphql_schema import GraphqlSchema
from judge import Description

HERE = Path(__file__).parent
PLUGINS = HERE.parent.parent / "plugins"
NEWER = r"is not described$|, not one of |: described with "


class Source:
    """One origin of a service's description, and what came out."""

    def __init__(self, service, entry, packages, folder):
        self.service, self.entry = service, entry
        if "package" in entry:
            registry, name, version, _ = packages[entry["package"]].split(maxsplit=3)
            self.label = f"{registry} `{name}` {version}"
        else:
            self.label = f"`{entry['repository']}`"
        self.version = entry.get("version", "")
        self.folder = folder
        self.whole, self.old = entry.get("whole", False), entry.get("old", False)
        self.tools, self.unknown, self.accepted, self.wrong = set(), {}, {}, {}
        self.calls = 0

    def files(self):
        found = []
        for pattern in self.entry["files"]:
            hits = sorted(glob.glob(str(self.folder / pattern)))
            if not hits:
                raise SystemExit(f"{self.service}: {self.folder / pattern} is not there")
            found += hits
        return found

    def describe(self):
        if "graphql" in self.entry:
            return GraphqlSchema(self.entry["graphql"], [Path(file).read_text() for file in self.files()])
        documents = [described.read(file, self.entry.get("base"), self.entry.get("wide", ()), self.entry.get("ending", "")) for file in self.files()]
        return Description(documents)


def main():
    options = arguments()
    known = yaml.safe_load((HERE / "sources.yaml").read_text())
    packages = dict(line.split(maxsplit=1) for line in (HERE / "packages.txt").read_text().splitlines() if line[0] != "#")
    sources = []
    for service, entries in known["services"].items():
        for entry in entries:
            if options.services and service not in options.services:
                continue
            if "package" in entry:
                folder = options.tools / entry["package"]
            elif options.repositories:
                folder = options.repositories / entry["repository"].replace("/", "+")
            else:
                continue
            sources.append(Source(service, entry, packages, folder))
    accepted = Accepted(yaml.safe_load((HERE / "accepted.yaml").read_text()) or [])
    plans = planned(options, {source.service for source in sources})
    broken = []
    for source in sources:
        if source.service not in plans:
            raise SystemExit(f"no plugin file of {source.service} was given")
        broken += check(source, plans[source.service], accepted)
    stale = accepted.stale(sources) if not options.services else []
    report(options, sources, broken, stale)
    failures = sum(len(source.wrong) for source in sources)
    if failures or broken or stale:
        raise SystemExit(1)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, required=True, help="where setup.sh put the packages")
    parser.add_argument("--repositories", type=Path, help="OWNER+NAME/ of the vendors' repositories")
    parser.add_argument("--services", type=lambda text: set(text.split(",")), default=set())
    parser.add_argument("--report", type=Path, help="the table to write")
    parser.add_argument("--plans", type=Path, help="what `plugin plan --json` printed, in place of plugin files")
    parser.add_argument("plugins", nargs="*", type=Path)
    return parser.parse_args()


def planned(options, services):
    if options.plans:
        text = options.plans.read_text()
    else:
        files = [str(file) for file in options.plugins if file.stem in services]
        run = subprocess.run(
            [os.environ["TOOLGATE"], "--json", "plugin", "plan", *files], stdout=subprocess.PIPE, text=True, check=True)
        text = run.stdout
    return {plan["service"]: plan for plan in json.loads(text)}


def check(source, plan, accepted):
    description = source.describe()
    broken = []
    for tool in plan["tools"]:
        name = tool["tool"]
        source.tools.add(name)
        decided = False
        calls = [(call["called"], call["requests"]) for call in tool["calls"]] + examples(source.service, name)
        for call in tool["calls"]:
            if call.get("failed"):
                broken.append(f"{source.service}_{name} ({call['called']}): {call['failed']}")
        for called, requests in calls:
            for request in requests:
                source.calls += 1
                wrong = description.judge(request)
                if wrong is None:
                    path = request["url"].split("?")[0]
                    if source.whole and not hosted(request, source.entry):
                        wrong = [f"{request['method']} {re.sub(r'^https://[^/]*', '', path)} is not described"]
                    else:
                        continue
                decided = True
                if source.old:
                    # Its service has got new names since; a name that it lacks is not wrong.
                    wrong = [what for what in wrong if not re.search(NEWER, what)]
                for what in wrong:
                    if accepted.take(source, name, what):
                        source.accepted.setdefault(name, set()).add(what)
                    else:
                        source.wrong.setdefault(name, {}).setdefault(what, called)
        if not decided:
            source.unknown[name] = True
    return broken


def hosted(request, entry):
    """Whether the request goes to a host that the description does not cover."""
    host = re.sub(r"^https://([^/]*).*", r"\1", request["url"])
    return bool(entry.get("hosts")) and host not in entry["hosts"]


def examples(service, tool):
    """The requests of recorded exchanges, in the form of planned ones."""
    made = []
    for file in sorted((PLUGINS / service / "examples").glob("*.json")):
        example = json.loads(file.read_text())
        if example.get("tool") != tool:
            continue
        requests = []
        for exchange in example.get("exchanges") or []:
            request = exchange["request"]
            if "url" not in request:
                continue
            body = request.get("body")
            if isinstance(body, (dict, list)):
                media, text = "application/json", json.dumps(body)
            else:
                media, text = None, None
            headers = list((request.get("headers") or {}).items())
            if media and not any(key.lower() == "content-type" for key, _ in headers):
                headers.append(("content-type", media))
            requests.append({"method": request.get("method", "GET"), "url": request["url"], "headers": headers, "body": text, "recorded": True})
        made.append((f"examples/{file.name}", requests))
    return made


class Accepted:
    """What is known to differ, and why."""

    def __init__(self, entries):
        self.entries = entries
        self.used = [False] * len(entries)

    def take(self, source, tool, what):
        for n, entry in enumerate(self.entries):
            origin = entry.get("source")
            if entry["service"] != source.service or origin and origin != (source.entry.get("package") or source.entry.get("repository")):
                continue
            if tool in listed(entry["tools"]) or entry["tools"] == "all":
                if re.search(entry["problem"], what):
                    self.used[n] = True
                    return True
        return False

    def stale(self, sources):
        """Entries that excuse nothing any more, of sources that were checked."""
        here = {(source.service, source.entry.get("package") or source.entry.get("repository")) for source in sources}
        services = {service for service, _ in here}
        old = []
        for used, entry in zip(self.used, self.entries):
            covered = (entry["service"], entry["source"]) in here if "source" in entry else entry["service"] in services
            if covered and not used:
                old.append(f"accepted.yaml: nothing is wrong any more with {entry['service']} {entry['tools']}: {entry['problem']}")
        return old


def listed(value):
    return value if isinstance(value, list) else [value]


def report(options, sources, broken, stale):
    for source in sources:
        for tool, wrong in sorted(source.wrong.items()):
            for what, called in wrong.items():
                print(f"{source.service}_{tool} [{source.entry.get('package') or source.entry.get('repository')}] {what} ({called})")
    for what in broken + stale:
        print(what)
    sums = [len(source.tools) - len(source.unknown) for source in sources]
    clean = [decided(source) - len(source.wrong.keys() | source.accepted.keys()) for source in sources]
    print(f"{len(sources)} descriptions, {sum(sums)} tools decided, {sum(clean)} clean, "
          f"{sum(len(source.wrong) for source in sources)} with faults, {sum(source.calls for source in sources)} requests")
    if options.report:
        import table

        table.write(options.report, sources, whole=bool(options.repositories))


def decided(source):
    return len(source.tools) - len(source.unknown)


if __name__ == "__main__":
    main()
