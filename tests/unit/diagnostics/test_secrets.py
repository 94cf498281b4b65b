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


def test_a_value_is_a_url_or_names_an_image() -> None:
    tree = {
        "url": "http://user:CANARY@h/x",
        "images": ["user:CANARY@h/x:1", "h:5000/x:1@sha256:ab"],
    }
    assert secrets.redacted(tree) == {
        "url": "http://[redacted]@h/x",
        "images": ["[redacted]@h/x:1", "h:5000/x:1@sha256:ab"],
    }
    assert secrets.without_credentials("x:1@sha256:ab") == "x:1@sha256:ab"


@pytest.mark.parametrize(
    ("url", "printed"),
    [
        ("lstat c/user:CANARY@h.example: no such file", "lstat c/[redacted]@h.example: no such file"),
        ("https://h/x#token=CANARY", "https://h/x#token=[redacted]"),
        ("htp://user:CANARY@h/x?token=CANARY", "htp://[redacted]@h/x?token=[redacted]"),
        ("ftp://h/x?a=1&X-Amz-Signature=CANARY#b", "ftp://h/x?a=1&X-Amz-Signature=[redacted]#b"),
        ("https://h/x?sp=r&sig=CANARY&sv=2", "https://h/x?sp=r&sig=[redacted]&sv=2"),
        ("https://h/org/repo//base?ref=v1&timeout=90s", "https://h/org/repo//base?ref=v1&timeout=90s"),
    ],
)  # fmt: skip
def test_what_signs_a_url_is_no_more_shown_than_its_password(url: str, printed: str) -> None:
    assert secrets.without_credentials(f"bad URL: {url} here") == f"bad URL: {printed} here"
