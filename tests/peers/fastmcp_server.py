"""FastMCP as its users run it for a REST API: one tool from an OpenAPI description.

Arguments: the upstream's URL, the port to serve on.
"""

import sys

import httpx2
from fastmcp import FastMCP

upstream, port = sys.argv[1], int(sys.argv[2])
parameter = {"name": "query", "in": "query", "required": True, "schema": {"type": "string"}}
success = {"description": "The answer.", "content": {"application/json": {"schema": {"type": "object"}}}}
description = {
    "openapi": "3.1.0",
    "info": {"title": "Prometheus", "version": "1"},
    "servers": [{"url": upstream}],
    "paths": {
        "/api/v1/query": {"get": {"operationId": "query", "parameters": [parameter], "responses": {"200": success}}}
    },
}
server = FastMCP.from_openapi(openapi_spec=description, client=httpx2.AsyncClient(base_url=upstream), name="peer")
server.run(
    transport="http",
    host="127.0.0.1",
    port=port,
    stateless_http=True,
    json_response=True,
    show_banner=False,
    log_level="error",
)
