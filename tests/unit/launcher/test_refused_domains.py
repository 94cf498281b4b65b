"""Values that KubeVirt admits and libvirt refuses (VR449): as libvirt answered."""

import pytest

from render.diagnostics.exits import Exit
from tests.support.asking import Ask


def machine(uuid: str) -> str:
    return (
        "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: web, namespace: prod}\n"
        "spec:\n  runStrategy: Always\n  template:\n    spec:\n      domain:\n"
        f"        firmware: {{uuid: {uuid}}}\n        memory: {{guest: 1Gi}}\n        devices: {{}}\n"
    )


@pytest.mark.parametrize(
    "uuid",
    [
        "564d1234-9abc-def0-123456789abc",
        "564d1234-5678-9abc-def0-123456789abcd",
        "'{564d1234-5678-9abc-def0-123456789abc}'",
        "564d1-2345678-9abc-def0-123456789abc",
        "5-64d1234-5678-9abc-def0-123456789abc",
        "564d1234-5678-9abc-def0-123456789abc-",
        "564d1234-5678-9abc-def0-12345678é9abc",
        "564d1234-5678-9abc-def0-123456789abg",
        "urn:uuid:564d1234-5678-9abc-def0-123456789abc",
    ],
)
def test_libvirt_refuses_the_domain(uuid: str, ask: Ask) -> None:
    answer = ask("check", "-", stdin=machine(uuid))
    assert answer.exit == Exit.FINDINGS
    assert "error VR449 never-starts: VirtualMachine prod/web" in answer.out
    assert "8-4-4-4-12" in answer.out


@pytest.mark.parametrize(
    "uuid",
    [
        "564d1234-5678-9abc-def0-123456789abc",
        "564D1234-5678-9ABC-DEF0-123456789ABC",
        "564d123456789abcdef0123456789abc",
        "'56 4d 12 34 56 78 9a bc-de f0 12 34 56 78 9a bc'",
        "00000000-0000-0000-0000-000000000000",
        "' 564d1234-5678-9abc-def0-123456789abc '",
        "''",
        "${UUID}",
        "'{{ .Values.uuid }}'",
    ],
)
def test_it_takes_it_or_nobody_knows_yet(uuid: str, ask: Ask) -> None:
    assert "VR449" not in ask("check", "-", stdin=machine(uuid)).out


RIGHT = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web, namespace: prod}
spec:
  runStrategy: Always
  template:
    spec:
      domain:
        memory: {guest: 1Gi}
        clock:
          utc: {}
          timer:
            hpet: {tickPolicy: delay}
            pit: {tickPolicy: discard}
            rtc: {tickPolicy: catchup, track: wall}
        features:
          hyperv:
            spinlocks: {spinlocks: 4095}
            vendorid: {vendorid: abcdefghijkl}
        devices:
          watchdog: {name: dog, i6300esb: {action: poweroff}}
          interfaces:
          - {name: default, masquerade: {}, macAddress: "02:00:00:00:00:0f"}
      networks:
      - {name: default, pod: {}}
"""


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ("poweroff", "restart", "unknown watchdog action 'restart'"),
        ("poweroff", "Poweroff", "unknown watchdog action 'Poweroff'"),
        (
            "tickPolicy: delay",
            "tickPolicy: dlay",
            "attribute 'tickpolicy' in element 'timer': 'dlay'.",
        ),
        ("tickPolicy: discard", "tickPolicy: x", "attribute 'tickpolicy' in element 'timer': 'x'."),
        ("catchup", "catchUp", "attribute 'tickpolicy' in element 'timer': 'catchUp'."),
        ("track: wall", "track: host", "attribute 'track' in element 'timer': 'host'."),
        ("4095", "4094", "HyperV spinlock retry count must be at least 4095"),
        (
            "abcdefghijkl",
            "abcdefghijklm",
            "HyperV vendor_id value must not be more than 12 characters.",
        ),
        ("abcdefghijkl", "ääääääää", "HyperV vendor_id value must not be more than 12 characters."),
        ("vendorid: abcdefghijkl", "vendorid: 'a,b'", "HyperV vendor_id value is invalid"),
        (
            "02:00:00:00:00:0f",
            "01:00:00:00:00:0f",
            "expected unicast mac address, found multicast '01:",
        ),
        (
            "02:00:00:00:00:0f",
            "ff:ff:ff:ff:ff:ff",
            "expected unicast mac address, found multicast 'ff:",
        ),
    ],
)
@pytest.mark.parametrize("release", ["1.4", "1.9"])
def test_libvirt_says_why(ask: Ask, right: str, wrong: str, words: str, release: str) -> None:
    assert RIGHT.count(right) == 1
    told = ask("check", "-", "--kubevirt", release, stdin=RIGHT.replace(right, wrong)).out
    assert told.count(" error VR449 never-starts: VirtualMachine prod/web: ") == 1, told
    assert words in told


@pytest.mark.parametrize(
    ("right", "other"),
    [
        ("", ""),
        ("poweroff", "inject-nmi"),
        ("{action: poweroff}", "{}"),
        ("poweroff", "${ACTION}"),
        ("track: wall", "track: realtime"),
        ("{spinlocks: 4095}", "{spinlocks: 100, enabled: false}"),
        ("{vendorid: abcdefghijkl}", "{vendorid: abcdefghijklmnop, enabled: false}"),
        ("{vendorid: abcdefghijkl}", "{vendorid: '${VENDOR_OF_HYPERV}'}"),
        ('masquerade: {}, macAddress: "02:', 'masquerade: {}, macAddress: "0e:'),
        ("pod: {}", "multus: {networkName: a}"),
    ],
)
def test_what_libvirt_takes(ask: Ask, right: str, other: str) -> None:
    assert "VR449" not in ask("check", "-", stdin=RIGHT.replace(right, other)).out


@pytest.mark.parametrize(
    ("cidr", "words"),
    [
        ("vmNetworkCIDR: 10.0.2.0", "failed to parse VM CIDR: 10.0.2.0"),
        ("vmNetworkCIDR: 10.0.2.0/33", "failed to parse VM CIDR: 10.0.2.0/33"),
        ("vmNetworkCIDR: 10.0.2/24", "failed to parse VM CIDR: 10.0.2/24"),
        ("vmNetworkCIDR: 10.0.2.0/31", "at least 2 host addresses are required: 10.0.2.0/31"),
        ("vmIPv6NetworkCIDR: 'fd10:0:2::2'", "failed to parse VM CIDR: fd10:0:2::2"),
        ("vmIPv6NetworkCIDR: 'fd10:0:2::/127'", "at least 2 host addresses are required: fd10"),
    ],
)
def test_networks_that_virt_handler_does_not_set_up(ask: Ask, cidr: str, words: str) -> None:
    text = RIGHT.replace("pod: {}", f"pod: {{{cidr}}}")
    told = ask("check", "-", stdin=text).out
    assert told.count(" warning VR449 never-starts: VirtualMachine prod/web: ") == 1, told
    assert words in told
    assert "VR449" not in ask("check", "-", stdin=text.replace("masquerade", "bridge")).out


@pytest.mark.parametrize(
    "cidr",
    [
        "vmNetworkCIDR: 10.0.2.0/24",
        "vmNetworkCIDR: 10.0.2.4/30",
        "vmNetworkCIDR: 010.0.2.0/24",
        "vmNetworkCIDR: '${CIDR}'",
        "vmNetworkCIDR: ''",
        "vmIPv6NetworkCIDR: 'fd10:0:2::/120'",
    ],
)
def test_networks_that_it_does(ask: Ask, cidr: str) -> None:
    assert "VR449" not in ask("check", "-", stdin=RIGHT.replace("pod: {}", f"pod: {{{cidr}}}")).out


def of_image(image: str) -> str:
    volume = (
        f"volumes:\n      - {{name: root, containerDisk: {{image: '{image}'}}}}\n      networks:"
    )
    disks = "devices:\n          disks: [{name: root, disk: {bus: virtio}}]\n"
    return RIGHT.replace("networks:", volume).replace("devices:\n", disks)


@pytest.mark.parametrize(
    ("image", "words"),
    [
        ("https://registry.example.com/a:1", "an image has no scheme"),
        ("golden/Fedora:43", "a repository is written in lower case"),
        ("example.com/a b:1", "a b is no repository"),
        ("example.com/a:", "nothing is no tag"),
        ("example.com/a:v1/b", "v1/b is no tag"),
        ("example_.com:x/a", "example_.com:x is no host"),
        ("example.com/", "nothing is no repository"),
        ("a@sha256:12", "sha256:12 is no digest"),
        ("example.com/" + "a" * 255, "it is longer than 255 characters"),
    ],
)
def test_the_kubelet_reads_no_such_name(ask: Ask, image: str, words: str) -> None:
    told = ask("check", "-", stdin=of_image(image)).out
    assert "warning VR449 never-starts: VirtualMachine prod/web" in told
    assert f"the kubelet pulls no image with '{image}'" in told
    assert f"invalid reference format: {words}" in told


@pytest.mark.parametrize(
    "image",
    [
        "fedora",
        "fedora:42",
        "quay.io/containerdisks/fedora:latest",
        "localhost:5000/a/b-c__d.e:V1",
        "Registry/a",
        "[fd00::1]:5000/a",
        "a@sha256:" + "0" * 64,
        "example.com/a:1@sha256:" + "0" * 64,
        "${IMAGE}",
        "{{ .Values.image }}",
        "example.com/" + "a" * 243,
    ],
)
def test_the_kubelet_reads_others(ask: Ask, image: str) -> None:
    assert "VR449" not in ask("check", "-", stdin=of_image(image)).out
