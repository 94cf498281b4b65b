"""DataImportCrons: what they import again and again, when, and what they keep of it.

Upstream: of the containerized data importer pkg/apiserver/webhooks/dataimportcron-validate.go.
"""

from collections.abc import Iterator

from render.admission.cdi import datavolume, schedule
from render.admission.cdi.sources import SpecPlace
from render.diagnostics.cause import Cause
from render.model import tree
from render.model.release import Items, Version, since, until, variant
from render.model.tree import Tree

_LONGEST_NAME = 63
_GARBAGE_COLLECT = ("Never", "Outdated")
_UNSETTABLE = ("sourceRef", "contentType", "checkpoints", "finalCheckpoint")
#: What is missing, and the sources one of which is needed.
_SOURCES: Items[tuple[str, tuple[str, ...]]] = (
    until("1.62", ("Missing registry source", ("registry",))),
    since("1.62", ("Missing source", ("registry", "pvc"))),
)
_SPEC = SpecPlace((("spec",), ("spec",)))
#: QUIRK(dataimportcron-validate.go): the fields of the template are named as if it were the whole object.
_TEMPLATE = SpecPlace((("Template",), ("spec", "template", "spec")))


def schema(body: Tree) -> Iterator[Cause]:
    """What the schema asks for beyond types and required fields."""
    if body["spec"].get("serviceAccountName") == "":
        text = "spec.serviceAccountName in body should be at least 1 chars long"
        path = ("spec", "serviceAccountName")
        yield Cause("cdi/schema", path, text, "name a service account, or leave it out")


def name_causes(body: Tree) -> Iterator[Cause]:
    """A name that is too long for the objects that are called after it."""
    name = (body.get("metadata") or {}).get("name", "")
    yield from datavolume.name_length(name, _LONGEST_NAME, SpecPlace(((), ("metadata", "name"))))


def causes(body: Tree, version: Version) -> Iterator[Cause]:
    """What the webhook refuses of *body*, which the schema has passed: the first rule that it breaks."""
    long = tuple(name_causes(body))
    yield from long
    if long:
        return
    spec = body["spec"]
    template = spec["template"]["spec"]
    text, known = variant(_SOURCES, version)
    if all(tree.get(template, "source", key) is None for key in known):
        cure = f"import from {' or '.join(known)}"
        yield _SPEC.cause("cron-source", ("Template",), text, cure, ("template", "spec"))
        return
    unsettable = next((key for key in _UNSETTABLE if template.get(key)), "")
    if unsettable or template.get("sourceRef") is not None:
        text = "Unsettable fields: SourceRef, ContentType, Checkpoints, FinalCheckpoint"
        written = ("template", "spec", unsettable or "sourceRef")
        yield _SPEC.cause("cron-template", ("Template",), text, "leave it out", written)
        return
    refused = tuple(datavolume.of_spec(template, _TEMPLATE, version))
    yield from refused
    if not refused:
        yield from _settings(spec)


def _settings(spec: Tree) -> Iterator[Cause]:
    text = spec.get("schedule") or ""
    if schedule.crashes(text):
        message = "Illegal cron schedule: a time zone alone, on which CDI's own webhook crashes"
        yield _SPEC.cause("schedule", ("Schedule",), message, _SCHEDULE, ("schedule",))
        return
    if text and not schedule.is_valid(text):
        message = "Illegal cron schedule"
        yield _SPEC.cause("schedule", ("Schedule",), message, _SCHEDULE, ("schedule",))
        return
    for key, is_refused, cure in (
        ("importsToKeep", spec.get("importsToKeep", 0) < 0, "write 0 or more"),
        (
            "garbageCollect",
            spec.get("garbageCollect") not in (None, *_GARBAGE_COLLECT),
            "use Never or Outdated",
        ),
        ("managedDataSource", not spec.get("managedDataSource"), "name the DataSource"),
    ):
        if is_refused:
            named = f"{key[0].upper()}{key[1:]}"
            yield _SPEC.cause("cron", (named,), f"Illegal {named} value", cure, (key,))
            return
    name = SpecPlace(((), ("spec", "managedDataSource")))
    yield from datavolume.name_length(spec["managedDataSource"], _LONGEST_NAME, name)


_SCHEDULE = (
    "five fields: minute, hour, day of month, month, day of week (0 to 6), as in 0 */12 * * *"
)
