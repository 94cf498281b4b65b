"""Access credentials (upstream: validateAccessCredentials in vmi-create-admitter.go)."""

from collections.abc import Iterator

from render.admission.checks import Check, Subject
from render.diagnostics.cause import Cause
from render.model.fieldpath import FieldPath
from render.model.tree import Tree

_CREDENTIALS = ("accessCredentials",)
_KINDS = ("sshPublicKey", "userPassword")
#: propagation method of an SSH key through cloud-init -> the source of the volume that it takes.
_CLOUD_INIT = {"noCloud": "cloudInitNoCloud", "configDrive": "cloudInitConfigDrive"}


def _credentials(subject: Subject) -> Iterator[Cause]:
    for index, credential in enumerate(subject.spec["accessCredentials"]):
        place = (*_CREDENTIALS, index)
        kinds = [kind for kind in _KINDS if credential.get(kind) is not None]
        for kind in kinds:
            yield from _propagation(subject, place, kind, credential[kind])
        if len(kinds) != 1:
            yield Cause(
                "credentials/one-kind",
                subject.at(*place),
                f"{subject.text(*place)} must have exactly one access credential type set",
                "write either sshPublicKey or userPassword",
            )


def _propagation(
    subject: Subject, place: FieldPath, kind: str, credential: Tree
) -> Iterator[Cause]:
    method = (*place, kind, "propagationMethod")
    methods = credential.get("propagationMethod") or {}
    text = subject.text(*place)
    known: tuple[str, ...] = ("qemuGuestAgent",)
    if kind == "sshPublicKey":
        known = (*_CLOUD_INIT, *known)
        yield from _ssh_methods(subject, place, method, methods)
    if (credential.get("source") or {}).get("secret") is None:
        yield Cause(
            "credentials/source",
            subject.at(*place, kind, "source"),
            f"{text} must have exactly one source set",
            "name the Secret in source.secret.secretName",
        )
    if sum(methods.get(name) is not None for name in known) != 1:
        yield Cause(
            "credentials/method",
            subject.at(*method),
            f"{text} must have exactly one propagationMethod set",
            f"use {' or '.join(known)}",
        )


def _ssh_methods(
    subject: Subject, place: FieldPath, method: FieldPath, methods: Tree
) -> Iterator[Cause]:
    volumes = subject.spec.get("volumes") or ()
    for name, source in _CLOUD_INIT.items():
        if methods.get(name) is not None and not any(
            volume.get(source) is not None for volume in volumes
        ):
            yield Cause(
                "credentials/volume",
                subject.at(*method),
                f"{subject.text(*place)} requires a {name} volume to exist when the {name} propagationMethod is in "
                "use.",
                f"add a volume with {source}, or use another method",
                place=subject.at(*method, name),
            )
    agent = methods.get("qemuGuestAgent")
    if agent is not None and not agent.get("users"):
        yield Cause(
            "credentials/users",
            subject.at(*method, "qemuGuestAgent", "users"),
            f"{subject.text(*place)} requires at least one user to be present in the users list",
            "list the users of the guest that get the key",
            place=subject.at(*method, "qemuGuestAgent"),
        )


CHECKS: tuple[Check, ...] = (Check("credentials", _credentials, where=_CREDENTIALS),)
