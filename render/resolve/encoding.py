"""What stands below ``data`` of a Secret and is no base64: the API server refuses that Secret.

Not judged is what others still fill in or decrypt: SOPS, argocd-vault-plugin, Flux, templates, words such as CHANGE_ME.
Upstream: encoding/base64 of Go, which leaves out line breaks and nothing else.
"""

from collections.abc import Iterator

from render.model.regex import pattern
from render.model.tree import Tree

#: ``${NAME}``, ``{{ name }}``, ``{% if %}``, ``<path:secret/data/web#key>``, ``[redacted]``, ``@name@``, ``__NAME__``.
_TO_BE_FILLED_IN = pattern(
    r"\$\{[^{}\n]*\}|\$\([^()\n]*\)|\{\{[^{}]*\}\}|\{%[^%]*%\}|<[^<>\n]+>|\[[^\[\]\n]+\]"
    r"|@[\w.-]+@|%\w+%|__[A-Za-z0-9]+(?:_[A-Za-z0-9]+)*__"
)
#: A text that somebody replaces as a whole: ``ENC[...]``, ``ref+vault://web``, ``CHANGE_ME``, ``***``, ``$PASSWORD``.
_TO_BE_REPLACED = pattern(
    r"(?:ENC\[.*|[\w+.-]+:\S+|[A-Z0-9_.-]+|(\W)\1*|[$%@<]\S*"
    r"|(?i:change|dummy|placeholder|redacted|replace|todo|your)[\w .-]*)\Z"
)
_BASE64 = pattern(r"(?:[A-Za-z0-9+/]{4})*+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?+\Z")
_FOREIGN = pattern(r"[^A-Za-z0-9+/=\r\n]")


def refused_keys(secret: Tree) -> Iterator[str]:
    """The keys of *secret* whose text below ``data`` nobody can decode, whatever is filled into it yet."""
    data = secret.get("data")
    if not isinstance(data, dict) or "sops" in secret:
        return
    for key, value in data.items():
        if isinstance(key, str) and isinstance(value, str) and _is_refused(value):
            yield key


def _is_refused(text: str) -> bool:
    encoded = text.replace("\r", "").replace("\n", "")
    if _BASE64.match(encoded) or _TO_BE_REPLACED.match(text.strip()):
        return False
    rest = _TO_BE_FILLED_IN.sub("", text)
    return rest == text or _FOREIGN.search(rest) is not None
