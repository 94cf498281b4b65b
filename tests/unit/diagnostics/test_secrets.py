import pytest

from render.diagnostics import secrets
from render.model import fieldpath


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("spec.template.spec.volumes[0].cloudInitNoCloud.userData", "VirtualMachine"),
        ("spec.template.spec.volumes[0].cloudInitConfigDrive.networkDataBase64", "VirtualMachine"),
        ("spec.source.http.proxy.password.value", "Anything"),
        ("spec.apiKey", "Anything"),
        ("data.anything", "Secret"),
        ("stringData.anything", "Secret"),
    ],
)
def test_secret_paths(path: str, kind: str) -> None:
    assert secrets.is_secret(fieldpath.parse(path), kind)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("spec.template.spec.volumes[0].cloudInitNoCloud.secretRef.name", "VirtualMachine"),
        ("spec.template.spec.volumes[0].cloudInitNoCloud.userDataSecretRef", "VirtualMachine"),
        ("spec.template.spec.volumes[0].secret.secretName", "VirtualMachine"),
        ("spec.template.spec.accessCredentials[0].sshPublicKey", "VirtualMachine"),
        ("spec.template.spec.domain.memory.guest", "VirtualMachine"),
        ("data.anything", "ConfigMap"),
        ("metadata.name", "Secret"),
    ],
)
def test_references_to_secrets_are_none(path: str, kind: str) -> None:
    assert not secrets.is_secret(fieldpath.parse(path), kind)


@pytest.mark.parametrize(
    ("text", "number", "shown"),
    [
        ("userData: hunter2", 1, "userData: [redacted]"),
        ('  "password" : "hunter2"', 1, '  "password" : [redacted]'),
        ("a: {userData: hunter2, b: c}", 1, "a: {userData: [redacted]"),
        ('{"userData":"hunter2"}', 1, '{"userData": [redacted]'),
        ("userData: |\n  hunter2", 2, "  [redacted]"),
        ("- userData: |\n    a:\n      hunter2", 3, "      [redacted]"),
        ("userData: |\n  a\n\n  b: hunter2", 4, "  [redacted]"),
        ("userData:\nname: b", 2, "name: b"),
        ("volume:\n  userData: |\n    hunter2\n  name: b", 4, "  name: b"),
        ("kind: Secret\ndata:\n  a: hunter2", 3, "  [redacted]"),
        ("data:\n  a: hunter2\nkind: Secret", 2, "  [redacted]"),
        ("data:\n  a: b\n---\nkind: Secret", 2, "  a: b"),
        ("kind: Secret\n---\ndata:\n  a: b", 4, "  a: b"),
        ("kind: ConfigMap\ndata:\n  a: b", 3, "  a: b"),
        ("userDataSecretRef: {name: a}", 1, "userDataSecretRef: {name: a}"),
    ],
)
def test_lines_are_shown_without_what_is_secret(text: str, number: int, shown: str) -> None:
    assert secrets.Masked(text.splitlines()).line(number) == shown
