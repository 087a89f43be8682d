"""A receiver of webhooks: a process of its own that verifies what arrives with the reference
implementation of Standard Webhooks and answers as its address says.

POST /ok/...       verified, 204                POST /slow/...     the same, later
POST /failing/...  always 500                   POST /gone/...     always 410
POST /again/...    503 with Retry-After: 1 for the first attempt of each event, then as /ok
POST /busy/...     always 503 with Retry-After: 600
PUT  /secrets      {"/ok/a": ["whsec_..."]}     GET  /log          what arrived, by address
"""

import http.server
import json
import sys
import threading
import time

from standardwebhooks import Webhook, WebhookVerificationError

SLOW_S = float(sys.argv[1]) if len(sys.argv) > 1 else 0.005

lock = threading.Lock()
secrets: dict[str, list[str]] = {}
arrived: dict[str, list[dict]] = {}
tried: set[tuple[str, str]] = set()


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("content-length", "0")))

    def do_PUT(self) -> None:
        with lock:
            secrets.update(json.loads(self.body()))
        self.answer(204)

    def do_GET(self) -> None:
        with lock:
            log = json.dumps(arrived).encode()
        self.answer(200, log, content_type="application/json")

    def do_POST(self) -> None:
        body, kind = self.body(), self.path.split("/")[1]
        headers = dict(self.headers.items())
        # With every secret that this address has: during a rotation there are two.
        verified = []
        for secret in secrets.get(self.path, []):
            try:
                Webhook(secret).verify(body, headers)
                verified.append(True)
            except WebhookVerificationError:
                verified.append(False)
        event = json.loads(body)
        if kind == "slow":
            time.sleep(SLOW_S)
        seen = (self.path, headers["webhook-id"])
        with lock:
            first = seen not in tried
            tried.add(seen)
            arrived.setdefault(self.path, []).append(
                {"id": headers["webhook-id"], "verified": verified, "event": event}
            )
        match kind:
            case "failing":
                self.answer(500)
            case "gone":
                self.answer(410)
            case "busy":
                self.answer(503, retry_after="600")
            case "again" if first:
                self.answer(503, retry_after="1")
            case _:
                self.answer(204)

    def log_message(self, format: str, *args: object) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        # A sender that is killed leaves its connections broken.
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


server = Server(("127.0.0.1", 0), Receiver)
print(server.server_address[1], flush=True)
server.serve_forever()
