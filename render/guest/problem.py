"""What a schema has to say of a document, as a value."""

from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple


class Problem(NamedTuple):
    """What a schema refuses, or what it calls deprecated.

    *path*: where, in the document (cloud-init names the one key that is too much on top, of several none); *rule* and
    *wanted*: the keyword of the schema and its value there; *keys*: what is too much, or missing. *version* and *cure*
    are those of a deprecation, in cloud-init's words.
    """

    path: FieldPath
    rule: str
    wanted: Any = None
    keys: tuple[str, ...] = ()
    version: str = ""
    cure: str = ""
