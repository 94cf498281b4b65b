"""Keep one comment of a pull request, or of a merge request, up to date: what ``virt-render diff`` says of it.

Usage: ``comment.py FILE``. The comment is found again by its first line, a marker with NAME in it, and by its author;
nobody else's is touched. Of a commit that is no longer the newest nothing is said. Needs only the standard library.

In an action of GitHub it takes the event, NAME, AUTHOR (the login whose token it is) and TOKEN; in a job of GitLab the
variables that are there for a merge request, NAME and TOKEN.
"""

import json
import os
import re
import stat
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from typing import Any

_PAGE = 100
_SECONDS = 60
_MOST_BYTES = 4_000_000
_CURE = "The token has to be allowed to write on them (GitHub: pull-requests: write; GitLab: the scope api)."


class CommentError(Exception):
    """Why nothing is written."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Goes nowhere else: the token is for this host."""

    def redirect_request(self, *_: object) -> None:
        """Leave the redirection to be the error that it is."""


class _Api:
    """A forge: its address, and the headers that say who asks."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        if not url.startswith(("https://", "http://")):
            raise CommentError(f"{url} is no address of a forge")
        self._url = url.rstrip("/")
        self._headers = {**headers, "Content-Type": "application/json", "User-Agent": "virt-render"}
        self._opener = urllib.request.build_opener(_NoRedirect)

    def ask(self, method: str, path: str, body: Mapping[str, str] | None = None) -> Any:
        """What the forge answers. Raises CommentError."""
        data = None if body is None else json.dumps(body).encode()
        asked = urllib.request.Request(self._url + path, data, self._headers, method=method)  # noqa: S310 - checked
        try:
            with self._opener.open(asked, timeout=_SECONDS) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            said = error.read(500).decode("utf-8", "replace")
            raise CommentError(f"{method} {path}: {error.code} {said}") from error
        except (OSError, ValueError) as error:
            raise CommentError(f"{method} {path}: {error}") from error

    def items(self, path: str) -> Iterator[Any]:
        """All items of a list, page by page."""
        number, count = 0, _PAGE
        while count == _PAGE:
            number += 1
            found = self.ask(
                "GET", f"{path}{'&' if '?' in path else '?'}per_page={_PAGE}&page={number}"
            )
            yield from found
            count = len(found)


class _GitHub:
    """A pull request of GitHub: that of the event, or of the run that the event is about."""

    most = 65_536

    def __init__(self, environ: Mapping[str, str]) -> None:
        accepted = "application/vnd.github+json"
        token = f"Bearer {environ['TOKEN']}"
        self._api = _Api(environ["GITHUB_API_URL"], {"Authorization": token, "Accept": accepted})
        self._author = environ["AUTHOR"]
        self._repository = f"/repos/{environ['GITHUB_REPOSITORY']}"
        with open(environ["GITHUB_EVENT_PATH"], encoding="utf-8") as file:
            event = json.load(file)
        pull = event.get("pull_request") or self._pull(event.get("workflow_run") or {})
        number = int(pull["number"]) if pull else 0
        self._comments = f"{self._repository}/issues/{number}/comments"
        # What the event says was so when it happened.
        now = pull and self._api.ask("GET", f"{self._repository}/pulls/{number}")
        self.is_newest = bool(now) and now["head"]["sha"] == pull["head"]["sha"]

    def _pull(self, run: Mapping[str, Any]) -> Any:
        """The open pull request whose newest commit *run* is about, None if there is none any more.

        What the run left behind may say anything: GitHub has the number.
        """
        if run.get("event") != "pull_request":
            raise CommentError("this is neither the run of a pull request nor what follows on one")
        head = f"{run['head_repository']['owner']['login']}:{run['head_branch']}"
        query = urllib.parse.urlencode({"state": "open", "head": head})
        for one in self._api.items(f"{self._repository}/pulls?{query}"):
            if one["head"]["sha"] == run["head_sha"]:
                return one
        return None

    def known(self) -> Iterator[tuple[int, str]]:
        """The comments of this author."""
        for one in self._api.items(self._comments):
            if (one["user"] or {}).get("login") == self._author:
                yield one["id"], one["body"] or ""

    def write(self, number: int | None, text: str) -> None:
        """Replace the comment *number*, or add one."""
        if number is None:
            self._api.ask("POST", self._comments, {"body": text})
        else:
            self._api.ask("PATCH", f"{self._repository}/issues/comments/{number}", {"body": text})


class _GitLab:
    """A merge request of GitLab: that of the pipeline."""

    most = 1_000_000

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._api = _Api(environ["CI_API_V4_URL"], {"PRIVATE-TOKEN": environ["TOKEN"]})
        project = urllib.parse.quote(environ["CI_MERGE_REQUEST_PROJECT_ID"], safe="")
        request = f"/projects/{project}/merge_requests/{int(environ['CI_MERGE_REQUEST_IID'])}"
        self._notes = f"{request}/notes"
        self._author = self._api.ask("GET", "/user")["id"]
        sha = environ.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA") or environ["CI_COMMIT_SHA"]
        self.is_newest = self._api.ask("GET", request)["sha"] == sha

    def known(self) -> Iterator[tuple[int, str]]:
        """The notes of this author."""
        for one in self._api.items(f"{self._notes}?sort=asc&order_by=created_at"):
            if one["author"]["id"] == self._author:
                yield one["id"], one["body"]

    def write(self, number: int | None, text: str) -> None:
        """Replace the note *number*, or add one."""
        if number is None:
            self._api.ask("POST", self._notes, {"body": text})
        else:
            self._api.ask("PUT", f"{self._notes}/{number}", {"body": text})


def _text(file: str) -> str:
    """What *file* holds. Raises CommentError, and OSError where it is a link.

    Whoever wrote the change may have left it here: a link would put what this job alone may read, its environment with
    the token, into the comment.
    """
    with open(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as opened:
        if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
            raise CommentError(f"{file} is no file")
        data = opened.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise CommentError(f"{file} has more than {_MOST_BYTES:,} bytes: lower --max-bytes")
    try:
        return data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise CommentError(f"{file} is no text in UTF-8") from error


def keep(file: str, environ: Mapping[str, str]) -> str:
    """Write what is in *file*; in a line what was done. Raises CommentError."""
    name = re.sub(r"[^\w ./-]|-{2,}", "-", environ.get("NAME") or "diff")
    marker = f"<!-- virt-render: {name} -->"
    text = f"{marker}\n{_text(file)}".rstrip()
    forge = _GitLab(environ) if environ.get("GITLAB_CI") else _GitHub(environ)
    if len(text) > forge.most:
        count = f"{len(text):,} characters"
        raise CommentError(f"{count} are more than a comment may have: lower --max-bytes")
    if not forge.is_newest:
        return "no open request has this as its newest commit: nothing is said"
    for number, said in forge.known():
        first, _, _ = said.partition("\n")
        if first.strip() == marker:
            if said.replace("\r\n", "\n").rstrip() == text:
                return f"comment {number} says so already"
            forge.write(number, text)
            return f"comment {number} is up to date"
    forge.write(None, text)
    return "added a comment"


def main() -> None:
    """Say what was done, or end with 1 and why not."""
    try:
        print(keep(sys.argv[1], os.environ))  # noqa: T201 - what it does, in the log
    except KeyError as error:
        sys.exit(f"no variable or field {error}")
    except (CommentError, OSError) as error:
        sys.exit(f"{error}\n{_CURE}")


if __name__ == "__main__":
    main()
