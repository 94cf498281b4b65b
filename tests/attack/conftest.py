import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.support.loopback import Loopback

ANSWER = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: fetched-from-loopback}\n"


@pytest.fixture
def loopback() -> Iterator[Loopback]:
    """A server that must receive nothing; it would answer everybody with an object."""
    requested: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requested.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(ANSWER)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield Loopback(f"http://127.0.0.1:{server.server_port}", requested)
        server.shutdown()
    assert requested == []
