"""Runs a script in toolgate's code mode, over its REST API.

Usage: run.py FILE [ARGUMENTS], where ARGUMENTS is a JSON value for the script's `args`. The README names the environment
variables.
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request

# A run takes at most two minutes.
TIMEOUT_S = 180
# How long somebody has to follow a link, and how often the program looks.
WAIT_S = 15 * 60
POLL_S = 3


def main(file: str, arguments: str) -> None:
    with open(file, encoding="utf-8") as script:
        run = call("/v1/scripts/run", {"script": script.read(), "arguments": json.loads(arguments)})
    shown = None
    ends_at = time.monotonic() + WAIT_S
    while run["status"] == "paused" and time.monotonic() < ends_at:
        pause = run["pause"]
        if shown != pause["step"]:
            shown = pause["step"]
            link = pause.get("connect_url") or pause.get("approval_url")
            print(f"line {pause.get('line')}, {pause['tool']}: {pause['message']}\n{link}", file=sys.stderr)
        time.sleep(POLL_S)
        # Calls that were made are not made again.
        run = call(f"/v1/scripts/runs/{run['run_id']}/resume", {})

    for line in run["logs"]:
        print(f"{line['level']}: {line['text']}", file=sys.stderr)
    for warning in run["warnings"]:
        print(f"warning: {warning}", file=sys.stderr)
    if run["status"] == "failed":
        error = run["error"]
        sys.exit(f"{file}:{error.get('line', '?')}: {error['name']}: {error['message']}")
    if run["status"] != "done":
        sys.exit(f"The run {run['run_id']} is {run['status']}.")
    print(json.dumps(run["result"], indent=2))


def call(path: str, body: dict) -> dict:
    """`data` of the answer. A refusal ends the program with its message and the next step."""
    request = urllib.request.Request(
        os.environ.get("TOOLGATE_URL", "http://127.0.0.1:8080") + path,
        data=json.dumps(body).encode(),
        headers={
            "Authorization": "Bearer " + os.environ["TOOLGATE_API_KEY"],
            "Content-Type": "application/json",
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            return json.load(answer)["data"]
    except urllib.error.HTTPError as refused:
        error = json.load(refused)["error"]
        sys.exit(f"{error['code']}: {error['message']} {error.get('hint') or ''}".strip())


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: run.py FILE [ARGUMENTS]")
    main(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else "{}")
