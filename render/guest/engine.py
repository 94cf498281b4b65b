"""What cloud-init says of user data and of network data: exactly that, by its own schemas.

A text that is not for the schemas (a script, say) is not checked. Upstream: cloudinit/config/schema.py
(validate_cloudconfig_file), cloudinit/handlers/__init__.py (type_from_starts_with), without netplan.
"""

from render.guest import yaml11
from render.guest.problem import Problem
from render.model.named_tuple import NamedTuple

CLOUD_CONFIG = "text/cloud-config"
JINJA = "text/jinja2"
#: How a text begins, in small letters and after blanks, and what cloud-init takes it for; the longest decides.
BEGINNINGS = {
    "text/x-shellscript-per-instance": "text/x-shellscript-per-instance",
    "text/x-shellscript-per-boot": "text/x-shellscript-per-boot",
    "text/x-shellscript-per-once": "text/x-shellscript-per-once",
    "#cloud-config-archive": "text/cloud-config-archive",
    "#cloud-config-jsonp": "text/cloud-config-jsonp",
    "## template: jinja": JINJA,
    "#cloud-boothook": "text/cloud-boothook",
    "#include-once": "text/x-include-once-url",
    "#cloud-config": CLOUD_CONFIG,
    "#part-handler": "text/part-handler",
    "#include": "text/x-include-url",
    "#!": "text/x-shellscript",
}
_BEGINNING = 64


class SchemaAnswer(NamedTuple):
    """What cloud-init says of a text.

    *type*: what it takes user data for, None for nothing: it then ignores the text. *loaded*: what the text says, where
    it was looked into. *is_checked*: whether a schema was asked.
    """

    type: str | None = None
    loaded: yaml11.Loaded | None = None
    is_checked: bool = False
    errors: tuple[Problem, ...] = ()
    deprecations: tuple[Problem, ...] = ()


def type_of(text: str) -> str | None:
    """What cloud-init takes user data for that begins like *text*, None for nothing that it knows."""
    start = text.lstrip()[:_BEGINNING].lower()
    return next(
        (named for beginning, named in BEGINNINGS.items() if start.startswith(beginning)), None
    )


def user_data(text: str) -> SchemaAnswer:
    """The answer to the user data *text*. Raises `yaml11.TooMuchError`."""
    taken = type_of(text)
    if taken != CLOUD_CONFIG:
        return SchemaAnswer(taken)
    loaded = yaml11.load(text)
    if not isinstance(loaded.value, dict):
        return SchemaAnswer(taken, loaded)
    from render.guest import schemas

    return _answer(SchemaAnswer(taken, loaded), schemas.cloud_config(loaded.value))


def network_data(text: str) -> SchemaAnswer:
    """The answer to the network data *text*. Raises `yaml11.TooMuchError`."""
    loaded = yaml11.load(text)
    value = loaded.value
    if not isinstance(value, dict) or not value.get("network", value):
        return SchemaAnswer(None, loaded)
    from render.guest import schemas

    return _answer(SchemaAnswer(None, loaded), schemas.network(value))


def _answer(answer: SchemaAnswer, problems: list[Problem]) -> SchemaAnswer:
    return answer._replace(
        is_checked=True,
        errors=tuple(problem for problem in problems if not problem.version),
        deprecations=tuple(problem for problem in problems if problem.version),
    )
