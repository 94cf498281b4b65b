"""Where what is looked at comes from, for the head of a page and its links."""

import os

import render
from render.diagnostics import codes
from render.diagnostics.diagnostic import Location
from render.frontends.answer import refused
from render.frontends.request.request import Request
from render.report import page_origin
from render.report.page_origin import PageOrigin
from render.system import git
from render.system.files import real_path, repository
from render.system.git import GitError


def origin_of(request: Request, revision: str = "HEAD") -> PageOrigin:
    """The repository around the first path of *request* at *revision*; nothing is known of what is in none.

    Raises RefusedError for a template of links that is none.
    """
    link = request.own["link_template"]
    fault = page_origin.fault(link) if link else ""
    if fault:
        raise refused(codes.USAGE.at(Location(), f"--link-template: {fault}"))
    path = next(iter(request.paths), ".")
    here = real_path(path if os.path.isdir(path) else ".")
    if not repository(here) and "GIT_DIR" not in os.environ:  # git need not be asked
        return PageOrigin(link=link, version=render.__version__)
    try:
        top = git.root(here)
        commit = git.commit_id(top, revision)
        is_edited = git.is_edited(top)
    except GitError:
        return PageOrigin(link=link, version=render.__version__)
    folder = os.path.relpath(real_path("."), top)
    return PageOrigin(os.path.basename(top), commit, is_edited, link, folder, render.__version__)
