"""What the controllers make of an update: releases, settings and the order in which things happen."""

from typing import Any

import pytest

from render.diff.effects import Ability, Reconciliation, Update, abilities, reconcile
from render.diff.migratability import Claims
from render.model import tree
from render.model.cluster_config import ClusterConfig
from render.model.release import MAIN, VERSIONS, version

Json = dict[str, Any]
GENERAL = "a non-live-updatable field was changed in the template spec"
NIC = {"name": "blue", "bridge": {}}
NET = {"name": "blue", "multus": {"networkName": "nad"}}


def spec(**fields: Any) -> Json:
    """The spec of a VMI; double underscores in the names of *fields* lead deeper."""
    body: Json = {
        "architecture": "amd64",
        "domain": {
            "cpu": {"sockets": 2, "cores": 1, "threads": 1},
            "memory": {"guest": "2Gi"},
            "devices": {"interfaces": [{"name": "default", "masquerade": {}}]},
        },
        "networks": [{"name": "default", "pod": {}}],
    }
    for key, value in fields.items():
        tree.put(body, tuple(key.split("__")), value)
    return body


def updated(before: Json, after: Json, release: str = "1.9.0", **requested: Any) -> Reconciliation:
    """What becomes of a VMI that was started of the template *before* when that is *after*.

    *requested*: fields that the VMI has beside those of the template (``vmi``), ``annotations`` of the template, access
    ``modes`` of claims, and settings of the cluster.
    """
    running = tree.copy(before)
    tree.put(running, ("domain", "cpu", "maxSockets"), 8)
    tree.put(running, ("domain", "memory", "maxGuest"), "8Gi")
    for path, value in requested.pop("vmi", {}).items():
        tree.put(running, tuple(path.split("__")), value)
    metadata = {"annotations": requested.pop("annotations", {})}
    return reconcile(
        Update(
            started=before,
            applied=after,
            vm={"spec": {"template": {"metadata": metadata, "spec": after}}},
            running={"metadata": {}, "spec": running},
            namespace="prod",
            claims=Claims(requested.pop("modes", {})),
            config=ClusterConfig(**{"workload_update_methods": ("LiveMigrate",), **requested}),
            release=version(release),
        )
    )


MORE = spec(domain__cpu__sockets=4)
LARGER = spec(domain__memory__guest="4Gi")


def test_sockets_are_added_by_a_migration() -> None:
    found = updated(spec(), MORE)
    assert (found.restart, found.error, found.action) == ("", "", "migrate")
    assert tree.get(found.vmi, "spec", "domain", "cpu", "sockets") == 4


@pytest.mark.parametrize(
    ("methods", "shared", "action"),
    [
        (("LiveMigrate",), True, "migrate"),
        (("LiveMigrate",), False, "unmigratable"),
        ((), False, "unmigratable"),
        (("LiveMigrate", "Evict"), False, "evict"),
        (("Evict",), True, "evict"),
        ((), True, "none"),
    ],
)
def test_what_the_workload_updater_does(
    methods: tuple[str, ...], *, shared: bool, action: str
) -> None:
    disk = {"name": "root", "persistentVolumeClaim": {"claimName": "root"}}
    modes = {} if shared else {"root": ("ReadWriteOnce",)}
    found = updated(
        spec(volumes=[disk]),
        spec(volumes=[disk], domain__cpu__sockets=4),
        modes=modes,
        workload_update_methods=methods,
    )
    assert found.action == action


def test_one_field_that_needs_a_restart_holds_back_sockets_but_no_interface() -> None:
    after = spec(hostname="h", domain__cpu__sockets=4, networks=[*spec()["networks"], NET])
    tree.get(after, "domain", "devices", "interfaces").append(NIC)
    found = updated(spec(), after)
    assert found.restart == GENERAL
    assert tree.get(found.vmi, "spec", "domain", "cpu", "sockets") == 2
    assert NIC in tree.get(found.vmi, "spec", "domain", "devices", "interfaces")


def test_the_first_message_stays() -> None:
    after = spec(domain__cpu__sockets=1, domain__memory__guest="1Gi")
    assert updated(spec(), after).restart == "Reduction of CPU socket count requires a restart"


def test_memory_that_is_not_aligned() -> None:
    found = updated(spec(), spec(domain__memory__guest="4097Mi"))
    assert found.restart == "memory hotplug not supported, Guest memory must be 2Mi aligned"


def test_sockets_that_the_vmi_does_not_have_cannot_be_patched() -> None:
    cores = spec(domain__cpu={"cores": 2})
    found = updated(cores, spec(domain__cpu={"cores": 2, "sockets": 2}))
    assert "Error encountered while handling CPU change request" in found.error


#: What differs, the last release before it did, the first that does, and what to look at.
ARM = {
    "before": spec(architecture="arm64"),
    "after": spec(architecture="arm64", domain__cpu__sockets=4),
}
ARM_MEMORY = {
    "before": spec(architecture="arm64"),
    "after": spec(architecture="arm64", domain__memory__guest="4Gi"),
    "vmi": {"domain__resources__requests__memory": "2Gi"},
}
TARGET = {
    "before": spec(networks=[*spec()["networks"], NET]),
    "after": spec(networks=[*spec()["networks"], {**NET, "multus": {"networkName": "other"}}]),
}
_BRIDGE = {"domain__devices__interfaces": [{"name": "default", "bridge": {}}]}
BRIDGED = {
    "before": spec(networks=TARGET["before"]["networks"], **_BRIDGE),
    "after": spec(networks=TARGET["after"]["networks"], **_BRIDGE),
}
RELEASES: dict[str, tuple[Json, tuple[str, str], tuple[str, str]]] = {
    "sockets on arm64": (
        ARM, ("1.4.1", ""), ("1.5.3", "ARM doesn't support CPU hotplug"),
    ),
    "memory on arm64": (
        ARM_MEMORY, ("1.4.1", ""),
        ("1.5.3", "memory hotplug not supported, Memory hotplug is only available for x86_64 VMs"),
    ),
    "another attachment": (TARGET, ("1.7.4", GENERAL), ("1.9.0", "")),
    "another attachment, gated": (
        {**TARGET, "feature_gates": frozenset({"LiveUpdateNADRef"})}, ("1.7.4", GENERAL), ("1.8.4", ""),
    ),
    "another attachment, while it can migrate": (TARGET, ("1.9.0", ""), ("main", "")),
    "another attachment, while it cannot": (BRIDGED, ("1.9.0", ""), ("main", GENERAL)),
}  # fmt: skip


@pytest.mark.parametrize("name", RELEASES)
def test_releases_differ(name: str) -> None:
    requested, *rows = RELEASES[name]
    for release, expected in rows:
        found = updated(**{**requested, "release": release})
        assert (found.restart, found.error) == (expected, "")


def test_memory_needs_a_request_before_1_6() -> None:
    assert "resources/requests/memory" in updated(spec(), LARGER, release="1.5.3").error
    assert updated(spec(), LARGER, release="1.6.6").error == ""


def test_every_ability_is_one_of_some_releases() -> None:
    releases = [abilities(release) for release in (*VERSIONS, version(MAIN))]
    for ability in Ability:
        having = sum(ability in of_release for of_release in releases)
        assert 0 < having < len(releases), (
            f"{ability} needs a row in `_ABILITIES` of render/diff/effects.py, and is none where all releases have it"
        )


HOT = {"name": "x", "persistentVolumeClaim": {"claimName": "x", "hotpluggable": True}}
PLUGGED = spec(volumes=[HOT], domain__devices__disks=[{"name": "x", "disk": {"bus": "scsi"}}])


@pytest.mark.parametrize(
    ("release", "listed", "disabled", "plugged"),
    [
        ("1.5.3", "DeclarativeHotplugVolumes", "", False),
        ("1.8.4", "", "", False),
        ("1.8.4", "DeclarativeHotplugVolumes", "", True),
        ("1.9.0", "", "", True),
        ("1.9.0", "", "DeclarativeHotplugVolumes", False),
        ("1.9.0", "DeclarativeHotplugVolumes", "DeclarativeHotplugVolumes", True),
        ("main", "DeclarativeHotplugVolumes", "HotplugVolumes", True),
        ("1.9.0", "HotplugVolumes", "", False),
    ],
)
def test_which_releases_plug_volumes(
    release: str, listed: str, disabled: str, *, plugged: bool
) -> None:
    found = updated(
        spec(),
        PLUGGED,
        release=release,
        feature_gates=frozenset({listed}),
        disabled_gates=frozenset({disabled}),
    )
    assert bool(tree.get(found.vmi, "spec", "volumes")) is plugged


def test_replaced_volumes_had_a_message_of_their_own() -> None:
    text = "the volumes replacement is effective only after restart"
    gate = frozenset({"VolumesUpdateStrategy"})
    assert updated(spec(), PLUGGED, release="1.4.1", feature_gates=gate).restart == text
    assert updated(spec(), PLUGGED, release="1.4.1").restart == ""
    assert updated(spec(), PLUGGED, release="1.5.3").restart == text
    assert updated(spec(), PLUGGED, release="1.6.6").restart == ""


def test_annotations_that_reach_the_vmi() -> None:
    key = "descheduler.alpha.kubernetes.io/evict"
    for release, value in (("1.5.3", None), ("1.6.6", "true")):
        found = updated(spec(), spec(), release=release, annotations={key: "true", "other": "x"})
        assert (tree.get(found.vmi, "metadata", "annotations") or {}).get(key) == value
        assert "other" not in (tree.get(found.vmi, "metadata", "annotations") or {})
