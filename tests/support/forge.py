"""A forge on this machine, as far as the script that comments asks for it: GitHub's API and GitLab's, with state."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

#: What each forge calls things: comments of one request, one comment, and the request itself.
_ROUTES = {
    "github": (
        r"/repos/shop/vms/issues/7/comments$",
        r"/repos/shop/vms/issues/comments/(\d+)$",
        r"/repos/shop/vms/pulls/7$",
    ),
    "gitlab": (
        r"/projects/12/merge_requests/7/notes$",
        r"/projects/12/merge_requests/7/notes/(\d+)$",
        r"/projects/12/merge_requests/7$",
    ),
}


class Forge:
    """*comments*: (author, text) by number; *head*: the newest commit; *requests*: each request, as ``METHOD path``."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.head = "abc"
        self.comments: dict[int, tuple[str, str]] = {}
        self.pulls: list[tuple[int, str, str]] = [(7, "someone:edit", "abc")]
        self.requests: list[str] = []
        self.status = 0
        self.url = ""

    def texts(self) -> list[str]:
        """The comments as they stand there."""
        return [text for _, text in self.comments.values()]

    def answer(self, method: str, target: str, headers: Any, body: Any) -> tuple[int, Any]:
        """The status, and what the API says."""
        parts = urlsplit(target)
        query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
        self.requests.append(f"{method} {parts.path}")
        token = headers.get("Authorization" if self.kind == "github" else "PRIVATE-TOKEN")
        if token not in ("Bearer secret", "secret"):
            return 401, {"message": "Bad credentials"}
        if self.status and method != "GET":
            return self.status, {"message": "Resource not accessible by integration"}
        several, single, request = _ROUTES[self.kind]
        if re.fullmatch(several, parts.path):
            if method == "POST":
                number = 100 + len(self.comments)
                self.comments[number] = (self._me(), body["body"])
                return 201, {"id": number}
            start = (int(query["page"]) - 1) * int(query["per_page"])
            rows = [self._row(number) for number in self.comments]
            return 200, rows[start : start + int(query["per_page"])]
        if found := re.fullmatch(single, parts.path):
            number = int(found[1])
            if method == ("PATCH" if self.kind == "github" else "PUT"):
                self.comments[number] = (self.comments[number][0], body["body"])
                return 200, self._row(number)
        if re.fullmatch(request, parts.path):
            return 200, {"head": {"sha": self.head}} if self.kind == "github" else {
                "sha": self.head
            }
        if parts.path == "/user" and self.kind == "gitlab":
            return 200, {"id": 5}
        if parts.path == "/repos/shop/vms/pulls":
            return 200, [
                {"number": number, "head": {"sha": sha}}
                for number, head, sha in self.pulls
                if head == query["head"] and query["state"] == "open"
            ]
        return 404, {"message": "Not Found"}

    def _me(self) -> str:
        return "github-actions[bot]" if self.kind == "github" else "5"

    def _row(self, number: int) -> dict[str, Any]:
        author, text = self.comments[number]
        if self.kind == "github":
            return {"id": number, "user": {"login": author}, "body": text}
        return {"id": number, "author": {"id": int(author)}, "body": text}


@contextmanager
def serving(kind: str) -> Iterator[Forge]:
    """A forge of *kind* that listens."""
    forge = Forge(kind)

    class Handler(BaseHTTPRequestHandler):
        def do_any(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            status, text = forge.answer(self.command, self.path, self.headers, body)
            data = json.dumps(text).encode()
            self.send_response(status)
            if status == 302:
                self.send_header("Location", f"{forge.url}/elsewhere")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    for method in ("GET", "POST", "PUT", "PATCH"):
        setattr(Handler, f"do_{method}", Handler.do_any)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    forge.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield forge
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
