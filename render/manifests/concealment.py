"""What kustomize says about its failure, without what is secret in what it read: it quotes patches and literals."""

import json
import re
from collections.abc import Collection, Iterator

from render.diagnostics import secrets
from render.diagnostics.diagnostic import Diagnostic
from render.manifests.kustomization import Reach
from render.system import files
from render.yaml import excerpts
from render.yaml.budget import Limits
from render.yaml.reader import read

_LEAST = 3  # characters: what is shorter is in every word
_MARGIN = 2048
_QUOTED_CONFIGURATION = re.compile(r"`[^`]*\n[^`]*(`|$)")
#: A patch of a kustomization, whole and as Go quotes it.
_QUOTED_PATCH = re.compile(r'(?<=\[patch: )"(?:[^"\\]|\\.)*+(?:"|\\?$)', re.DOTALL)
_BYTES = re.compile(r"\[\d{1,3}(?: \d{1,3}){3,}\]")
_CLOUD_CONFIG = re.compile(r"(?:[|>][0-9+-]*\s*\n)?\s*#cloud-config\b")
#: Keys of a cloud-config whose value is no secret: whom it makes, and how.
_PUBLIC = re.compile(
    r"\s*(?:- +)*(?:expire|fqdn|gecos|groups?|home_?dir|hostname|lock_passwd|name|owner|path|permissions"
    r"|primary_group|shell|ssh_pwauth|sudo|type|user(?:s|_?name)?) *:"
)
_PART = re.compile(r"^\s*(?:- +|\? +|: +)*([\w./-]+ *[:=])?")


def secret_parts(reach: Reach, limits: Limits) -> set[str]:
    """The lines, and what is assigned in them, of all that is secret in the files of *reach*."""
    secrets: set[str] = set()
    objects = {*reach.kustomizations, *reach.resources}
    for file in dict.fromkeys((*reach.kustomizations, *reach.resources, *reach.others)):
        data = files.read(file, file, limits.file_bytes)
        if isinstance(data, Diagnostic):
            continue
        if file in objects or any("kind" in one.body for one in read(data, file, limits).documents):
            for text in excerpts.hidden_texts(data):
                secrets.update(_parts(text))
        else:  # what generators and lists of operations hold
            secrets.update(_parts(data.decode(errors="replace")))
    return secrets


def _parts(text: str) -> Iterator[str]:
    """The lines of *text*, and what is assigned in them; user names in a cloud-config are no secret."""
    is_cloud_config = _CLOUD_CONFIG.match(text) is not None
    for line in text.splitlines():
        if is_cloud_config and _PUBLIC.match(line):
            continue
        whole = line.strip().strip("\"'`,{}[]").strip()
        value = _PART.sub("", line).strip().strip("\"'`,{}[]").strip()
        for part in (whole, value, *value.split(",")):
            if len(part) >= _LEAST:
                yield part


def shortened(said: str, parts: Collection[str], most: int) -> str:
    """The beginning and the end of *said*, up to *most* characters, without any of *parts*."""
    said = _without_quotes(said)  # before it is cut: half of a quote is not known for one
    if len(said) <= most + _MARGIN:
        said = _concealed(said, parts)
        if len(said) <= most:
            return said
        return f"{said[: most // 2]} ... {said[-most // 2 :]}"
    half = most // 2
    first = _concealed(said[: half + _MARGIN], parts)[:half]
    last = _concealed(said[-half - _MARGIN :], parts)[-half:]
    return f"{first} ... {last}"


def _without_quotes(said: str) -> str:
    said = _QUOTED_CONFIGURATION.sub(f"`{secrets.MASK}`", said)
    return _QUOTED_PATCH.sub(secrets.MASK, said)


def _concealed(said: str, parts: Collection[str]) -> str:
    said = _BYTES.sub(secrets.MASK, said)
    spellings = {form for part in parts for form in (part, json.dumps(part)[1:-1])}
    for form in sorted((one for one in spellings if one in said), key=len, reverse=True):
        said = said.replace(form, secrets.MASK)
    return "\n".join(secrets.masked(line) for line in said.split("\n"))
