"""Host name and subdomain."""

import pytest

from render.admission.vmi.hostname import CHECKS
from tests.support.refusals import refusals

LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)


@pytest.mark.parametrize(
    ("hostname", "faults"),
    [
        ("web-1", ""),
        ("x" * 63, ""),
        ("a.b", "must not contain dots"),
        ("Web", LABEL),
        ("web\n", LABEL),
        ("x" * 64, "must be no more than 63 characters"),
        (f"{'x' * 64}.y", "must be no more than 63 characters, must not contain dots"),
        ("é" * 32, f"must be no more than 63 characters, {LABEL}"),
    ],
)
def test_hostname(hostname: str, faults: str) -> None:
    message = f"spec.hostname does not conform to the kubernetes DNS_LABEL rules : {faults}"
    expected = [("names/hostname", "spec.hostname", message)] if faults else []
    assert refusals(CHECKS, {"hostname": hostname}) == expected


def test_subdomain() -> None:
    assert refusals(CHECKS, {"subdomain": "a.b-c"}) == []
    long = ".".join(["x" * 63] * 4)
    ((name, field, message),) = refusals(CHECKS, {"subdomain": long})
    assert (name, field) == ("names/subdomain", "spec.subdomain")
    assert message == (
        "spec.subdomain does not conform to the kubernetes DNS_SUBDOMAIN rules : must be no more than 253 characters"
    )
