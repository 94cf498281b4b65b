"""ACPI tables out of volumes (upstream: validateFirmwareACPI in admitters/vmi-create-admitter.go)."""

from collections.abc import Iterator

from render.admission.checks import Check, Subject
from render.diagnostics.cause import Cause
from render.model.release import Windowed, since, until

_ACPI = ("domain", "firmware", "acpi")
#: The word ``firmware`` is missing where KubeVirt names the field.
_REPORTED = ("acpi",)
_REFERENCES = ("slicNameRef", "msdmNameRef")
_HELP = "name a volume of the VM that holds a Secret"


def _references(subject: Subject) -> Iterator[Cause]:
    acpi = subject.get(*_ACPI)
    if not any(acpi.get(key) for key in _REFERENCES):
        message = "ACPI was set but no SLIC nor MSDM volume reference was set"
        yield Cause(
            "acpi/reference", subject.at(*_REPORTED), message, _HELP, place=subject.at(*_ACPI)
        )
    for key in _REFERENCES:
        if acpi.get(key):
            fault = _fault(subject, acpi[key])
            if fault:
                yield _cause(subject, key, fault, reported=(*_REPORTED, key))


def _slic(subject: Subject) -> Iterator[Cause]:
    fault = _fault(subject, subject.get(*_ACPI, "slicNameRef") or "")
    if fault:
        # A missing volume is reported at the whole, another one at the reference.
        missing = fault == _MISSING
        yield _cause(
            subject,
            "slicNameRef",
            fault,
            reported=_REPORTED if missing else (*_REPORTED, "slicNameRef"),
        )


_MISSING = "does not have a matching Volume."


def _fault(subject: Subject, name: str) -> str:
    """What is wrong with the volume of that *name*, the first if there are several."""
    for volume in subject.spec.get("volumes") or ():
        if volume.get("name") == name:
            unfit = volume.get("secret") is None
            return "refers to Volume of unsupported type." if unfit else ""
    return _MISSING


def _cause(subject: Subject, key: str, fault: str, *, reported: tuple[str, ...]) -> Cause:
    return Cause(
        "acpi/volume",
        subject.at(*reported),
        f"{subject.text(*_REPORTED)} {fault}",
        _HELP,
        place=subject.at(*_ACPI, key),
    )


CHECKS: tuple[Check | Windowed[Check], ...] = (
    since("1.5", until("1.6", Check("acpi", _slic, where=_ACPI))),
    since("1.6", Check("acpi", _references, where=_ACPI)),
)
