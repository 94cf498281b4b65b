"""What the environment asks for: variables of the process, and those that Argo CD passes on from an Application."""

import re
from collections.abc import Iterable, Iterator, Mapping

from render.diagnostics.codes import INVALID_SETTING
from render.diagnostics.diagnostic import Diagnostic, Location
from render.model.nearest import nearest
from render.settings import ENVIRONMENT_PREFIX, Option, Source

_ARGOCD_PREFIX = "ARGOCD_ENV_"
# What Kubernetes sets in every container beside a Service whose name begins with virt-render.
_OF_A_SERVICE = r"_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_\w+)?)$"
_OTHERS = ("DEBUG", "REQUIRE_TOOLS", "REQUIRE_BROWSER")


def plain(environ: Mapping[str, str], options: Iterable[Option]) -> dict[str, str]:
    """What plain variables say of *options*. An empty value says nothing: Argo CD passes those of unset variables."""
    names = (option.spelled(Source.ENVIRONMENT) for option in options)
    return {name: environ[name] for name in names if environ.get(name)}


def misspelt(environ: Mapping[str, str], options: Iterable[Option]) -> Iterator[Diagnostic]:
    """Plain variables that are nearly one of *options*.

    Any other name may be somebody's own: a pipeline that keeps our version in ``VIRT_RENDER_VERSION``, Kubernetes.
    """
    known = [option.field.upper() for option in options] + [*_OTHERS]
    for name in sorted(environ):
        word = name.removeprefix(ENVIRONMENT_PREFIX)
        if word in (name, *known) or not environ[name] or re.search(_OF_A_SERVICE, f"_{word}"):
            continue
        if near := nearest(word, known):
            message = (
                f"unknown environment variable {name}; did you mean {ENVIRONMENT_PREFIX}{near}?"
            )
            yield INVALID_SETTING.at(Location(), message)


def application(environ: Mapping[str, str], known: Iterable[Option]) -> dict[str, str]:
    """What the ``plugin.env`` of an Argo CD Application says; here every name is meant for us.

    An empty value says nothing of one of the *known* options; another name is unknown with any value.
    """
    prefix = f"{_ARGOCD_PREFIX}{ENVIRONMENT_PREFIX}"
    names = {option.spelled(Source.ENVIRONMENT) for option in known}
    variables = {
        name.removeprefix(_ARGOCD_PREFIX): value
        for name, value in environ.items()
        if name.startswith(prefix)
    }
    return {name: value for name, value in variables.items() if value or name not in names}


def destination(environ: Mapping[str, str]) -> dict[str, str]:
    """The namespace to which Argo CD deploys, and the name under which, where nobody named them.

    An Application outside of Argo CD's own namespace has that in front of its name.
    """
    variables = {
        "NAMESPACE": environ.get("ARGOCD_APP_NAMESPACE", ""),
        "RELEASE_NAME": environ.get("ARGOCD_APP_NAME", "").rpartition("_")[2],
    }
    return {f"{ENVIRONMENT_PREFIX}{name}": value for name, value in variables.items() if value}
