"""Makes the calls that the test says, with the client as it was installed. `drive.py sync|async`."""

import asyncio
import dataclasses
import itertools
import json
import logging
import re
import sys
import traceback

import toolgate


def say(message):
    print(json.dumps(message), flush=True)


def sleep(seconds):
    say({"sleep_ms": round(seconds * 1000)})
    sys.stdin.readline()


async def sleep_async(seconds):
    sleep(seconds)


def show(url):
    say({"shown": url})
    sys.stdin.readline()


def settings(new):
    given = {"api_key": new["key"], "base_url": new["url"]}
    if "timeout_ms" in new:
        given["timeout"] = new["timeout_ms"] / 1000
    if "max_retry_wait_ms" in new:
        given["max_retry_wait"] = new["max_retry_wait_ms"] / 1000
    if "max_retries" in new:
        given["max_retries"] = new["max_retries"]
    return given


def arguments(name, args, last):
    bound = {"timeout": args.pop("timeout_ms") / 1000} if "timeout_ms" in args else {}
    if name == "wait_for_approval":
        return (last,), {"show": show, **bound}
    if name == "wait_for_connection":
        return (last,), {"show": show, "confirm_url": args.get("confirm_url"), **bound}
    if name == "connect":
        return (), {"show": show, "confirm_url": None, **args, **bound}
    positional = {"skills.create": ["name"], "tools.search": ["query"]}.get(name, [])
    return tuple(args[key] for key in positional), {k: v for k, v in args.items() if k not in positional}


def plain(value):
    if dataclasses.is_dataclass(value):
        kind = re.sub(r"(?<!^)(?=[A-Z])", "_", type(value).__name__).lower()
        fields = {one.name: getattr(value, one.name) for one in dataclasses.fields(value) if one.name != "call"}
        more = {"can_retry": value.can_retry} if kind == "provider_error" else {}
        return {"outcome": kind, **fields, **more}
    return value


def failed(error):
    return {
        "failed": {
            "type": type(error).__name__,
            "code": error.code,
            "status": error.status,
            "request_id": error.request_id,
            "can_retry": error.can_retry,
            "retry_after_s": error.retry_after,
            "hint": error.hint,
            "details": error.details,
            "message": error.message,
            # Looked through for keys.
            "text": [str(error), repr(error), "".join(traceback.format_exception(error)), repr(vars(error))],
        }
    }


def toolset_of(args, outcomes):
    named = {name: args[name] for name in ("tools", "user_id", "confirm_url") if name in args}
    named["on_outcome"] = lambda call, outcome: outcomes.append({"id": call.id, **plain(outcome)})
    return (args["format"],), named


def target(client, name):
    for part in name.split("."):
        client = getattr(client, part)
    return client


def messages():
    return (json.loads(line) for line in iter(sys.stdin.readline, ""))


def drive():
    client = last = None
    for message in messages():
        if "new" in message:
            client = toolgate.Toolgate(**settings(message["new"]), sleep=sleep)
            logging.info("%r %r %r", client, vars(client), client._settings)
            continue
        try:
            if message["call"] == "toolset":
                positional, named = toolset_of(message["args"], outcomes := [])
                toolset = client.toolset(*positional, **named)
                results = toolset.run(message["args"]["answer"])
                say({"done": {"definitions": toolset.definitions, "results": results, "outcomes": outcomes}})
                continue
            positional, named = arguments(message["call"], message["args"], last)
            value = target(client, message["call"])(*positional, **named)
            if hasattr(value, "page"):
                value = list(itertools.islice(value, message.get("take")))
            last = value if dataclasses.is_dataclass(value) else last
            say({"done": plain(value)})
        except toolgate.ToolgateError as error:
            say(failed(error))


async def drive_async():
    client = last = None
    for message in messages():
        if "new" in message:
            client = toolgate.AsyncToolgate(**settings(message["new"]), sleep=sleep_async)
            logging.info("%r %r %r", client, vars(client), client._settings)
            continue
        try:
            if message["call"] == "toolset":
                positional, named = toolset_of(message["args"], outcomes := [])
                toolset = await client.toolset(*positional, **named)
                results = await toolset.run(message["args"]["answer"])
                say({"done": {"definitions": toolset.definitions, "results": results, "outcomes": outcomes}})
                continue
            positional, named = arguments(message["call"], message["args"], last)
            value = target(client, message["call"])(*positional, **named)
            if hasattr(value, "page"):
                items = []
                async for item in value:
                    items.append(item)
                    if len(items) == message.get("take"):
                        break
                value = items
            elif asyncio.iscoroutine(value):
                value = await value
            last = value if dataclasses.is_dataclass(value) else last
            say({"done": plain(value)})
        except toolgate.ToolgateError as error:
            say(failed(error))


if __name__ == "__main__":
    logging.basicConfig(level=logging.DEBUG)
    if sys.argv[1] == "async":
        asyncio.run(drive_async())
    else:
        drive()
