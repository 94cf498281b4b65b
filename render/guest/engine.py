"""What cloud-init says of user data and of network data: exactly that, by its own schemas.

A text that is not for the schemas (a script, say) is not checked. Upstream: cloudinit/config/schema.py
(validate_cloudconfig_file), cloudinit/handlers/__init__.py (type_from_starts_with), without netplan.
"""

from collections.abc import Iterable

from render.guest import yaml11
from render.guest.problem import Problem
from render.model.fieldpath import FieldPath
from render.model.hints import Any
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
    return _answer(SchemaAnswer(taken, loaded), _of_cloud_config(loaded.value))


def network_data(text: str) -> SchemaAnswer:
    """The answer to the network data *text*. Raises `yaml11.TooMuchError`."""
    loaded = yaml11.load(text)
    value = loaded.value
    if not isinstance(value, dict) or not value.get("network", value):
        return SchemaAnswer(None, loaded)
    return _answer(SchemaAnswer(None, loaded), _of_network(value))


def _answer(answer: SchemaAnswer, problems: list[Problem]) -> SchemaAnswer:
    return answer._replace(
        is_checked=True,
        errors=tuple(problem for problem in problems if not problem.version),
        deprecations=tuple(problem for problem in problems if problem.version),
    )


def _of_cloud_config(value: dict[Any, Any]) -> list[Problem]:
    """What the schema says of a cloud-config that is a mapping."""
    from render.guest import schemas

    known = schemas.known_keys()
    unknown = tuple(str(key) for key in value if key not in known)
    # cloud-init takes the name out of a message, where it stands between quotes.
    place = unknown if len(unknown) == 1 and "'" not in unknown[0] else ()
    problems = [Problem(place, "additionalProperties", keys=unknown)] if unknown else []
    for key, item in value.items():
        problems += _problems(schemas.of_key(key), item, (key,))
    return list(dict.fromkeys(problems))


def _of_network(value: dict[Any, Any]) -> list[Problem]:
    """What the schema of its version says of network data that are a mapping, with or without ``network`` on top."""
    from render.guest import schemas

    inner = value.get("network", value)
    version = inner.get("version") if isinstance(inner, dict) else None
    return list(dict.fromkeys(_problems((schemas.of_network(version),), value, ())))


def _problems(wanted: Iterable[dict[str, Any]], value: Any, path: FieldPath) -> list[Problem]:
    """What each schema of *wanted* says of *value* at *path*; nothing but words is asked of jsonschema."""
    from render.guest.conformity import conforms

    problems: list[Problem] = []
    for schema in wanted:
        if not conforms(schema, value):
            from render.guest import validator

            problems += validator.problems(schema, value, path)
    return problems
