import time

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


@pytest.mark.parametrize(
    ("url", "printed"),
    [
        ("https://user:CAN/ARY@h/x", "https://[redacted]@h/x"),
        ("https://user:CAN ARY@h/x", "https://[redacted]@h/x"),
        ("https://user:CAN\nARY@h/x", "https://[redacted]@h/x"),
        ("https://user:C@N/ARY@h/x", "https://[redacted]@h/x"),
        ("https://user:CAN?a=/ARY@h/x?b", "https://[redacted]@h/x?b"),
        ("docker://user:CAN/ARY@h/x:1@sha256:ab", "docker://[redacted]@h/x:1@sha256:ab"),
        ("https://a:CANARY@h/x, https://b:CAN/ARY@i/y", "https://[redacted]@h/x, https://[redacted]@i/y"),
        ("https://a:CANARY@h/x, by c@d", "https://[redacted]@h/x, by c@d"),
        ("https://h:8080/@scope/x", "https://h:8080/@scope/x"),
        ("https://[::1]:80/x@y", "https://[::1]:80/x@y"),
        ("git@github.com:org/repo", "git@github.com:org/repo"),
        ("docker://registry:5000/x@sha256:ab", "docker://registry:5000/x@sha256:ab"),
        ("docker://registry/x:tag@sha256:ab", "docker://registry/x:tag@sha256:ab"),
        ("https://h/a@b", "https://h/a@b"),
    ],
)  # fmt: skip
def test_a_password_ends_where_its_host_begins(url: str, printed: str) -> None:
    """Whether or not somebody has escaped it."""
    assert secrets.without_credentials(f'"{url}" is no URL') == f'"{printed}" is no URL'


def test_lines_between_two_values_are_no_password() -> None:
    text = "url: https://h:PORT/x\nname: web\nmail: a@b\n"
    assert secrets.credentials(text) == []
    start, end = secrets.credentials(f"{text}url: https://u:a/b c@h\n")[0]
    assert (start, end) == (len(text) + 13, len(text) + 20)


@pytest.mark.parametrize("piece", ["://a:b ", "://a:b", "a:b ", "@", "://", "@sha256:"])
def test_a_long_line_costs_what_its_length_does(piece: str) -> None:
    text = piece * (1_000_000 // len(piece)) + "@"
    begin = time.process_time()
    secrets.without_credentials(text)
    secrets.credentials(text)
    assert time.process_time() - begin < 20
