"""Connects to a gateway with the official Python client (package `mcp`, 2.x) and nothing but its address.

The first argument is a JSON object: `url`, `redirect` and `document`, the address of the client's metadata
document or null, `tool` and `arguments`, the call that it makes. Speaks in lines of JSON with whoever plays the person: prints `{"open": ADDRESS}` for the
browser and reads the address that the browser ends at; prints `{"called": TEXT}` after each call and reads
what comes next: `call`, `expire` (the client takes its access token for expired, then calls), `together` (the same with
four calls at once, of which it prints `{"together": [TEXT, ...]}`) or `end`.

A client that has been named comes without a person: `client` holds `id`, `secret` and `issuer`, and where `assertion`
is true, prints `{"assertion": {"audience": ..., "resource": ...}}` and reads the assertion that it presents.
"""

import asyncio
import json
import sys
from urllib.parse import parse_qs, urlparse

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.auth.extensions.identity_assertion import IdentityAssertionOAuthProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata


class Kept:
    """What a client keeps between two starts."""

    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


def say(message):
    print(json.dumps(message), flush=True)


async def heard():
    line = await asyncio.to_thread(sys.stdin.readline)
    return json.loads(line)


async def open_browser(url):
    say({"open": url})


async def came_back():
    query = parse_qs(urlparse(await heard()).query)
    first = {name: values[0] for name, values in query.items()}
    return AuthorizationCodeResult(code=first["code"], state=first.get("state"), iss=first.get("iss"))


async def asserted(audience, resource):
    say({"assertion": {"audience": audience, "resource": resource}})
    return await heard()


def provider_of(job):
    client = job.get("client")
    if client is None:
        metadata = OAuthClientMetadata(client_name="Official client", redirect_uris=[job["redirect"]])
        return OAuthClientProvider(
            job["url"],
            metadata,
            Kept(),
            redirect_handler=open_browser,
            callback_handler=came_back,
            client_metadata_url=job["document"],
        )
    named = dict(client_id=client["id"], client_secret=client["secret"], issuer=client["issuer"])
    if client["assertion"]:
        return IdentityAssertionOAuthProvider(job["url"], Kept(), assertion_provider=asserted, **named)
    return ClientCredentialsOAuthProvider(job["url"], Kept(), **named)


async def main(job):
    provider = provider_of(job)
    async with httpx2.AsyncClient(auth=provider, timeout=60) as http:
        async with Client(streamable_http_client(job["url"], http_client=http)) as client:
            async def call():
                result = await client.call_tool(job["tool"], job["arguments"])
                return "".join(block.text for block in result.content)

            together = 1
            while True:
                if together > 1:
                    say({"together": await asyncio.gather(*(call() for _ in range(together)))})
                else:
                    say({"called": await call()})
                together = 1
                match await heard():
                    case "end":
                        return
                    case "expire":
                        provider.context.token_expiry_time = 1
                    case "together":
                        provider.context.token_expiry_time = 1
                        together = 4


asyncio.run(main(json.loads(sys.argv[1])))
