"""KubeVirt releases, and what exists only in some of them.

Whatever changed between releases (a rule, a stage, a check, a row of data) stands in its place, wrapped by `since` or
`until`; `in_force` takes the wrapping off. What has no such row asks `holds` or `variant` with a window of its own.
"""

from collections.abc import Callable, Iterable
from functools import cache

from render.model.hints import Generic, TypeVar, overload
from render.model.named_tuple import NamedTuple
from render.model.resource import INSTANCETYPE_GROUP, KUBEVIRT

T = TypeVar("T")

#: Major, minor and patch. A window opens and closes at a patch release where one changed the rule.
Version = tuple[int, int, int]

_MACHINE_TYPES = (("amd64", "q35"), ("arm64", "virt"), ("s390x", "s390-ccw-virtio"))
_WITH_POWER = (*_MACHINE_TYPES, ("ppc64le", "pseries"))
_FIRST: Version = (0, 0, 0)
_LAST: Version = (99, 0, 0)


class Windowed(NamedTuple, Generic[T]):
    """An *item* that exists from *since* on, and before *until*."""

    item: T
    since: Version = _FIRST
    until: Version = _LAST


Items = tuple[T | Windowed[T], ...]
"""Things of one kind, some of them of some releases only."""


#: The name of KubeVirt's main branch, of which one commit is a release to preview, and its place after all others.
MAIN = "main"
_MAIN: Version = (98, 0, 0)


@cache
def version(text: str) -> Version:
    """``1.8``, ``v1.8`` or ``v1.8.4`` as numbers, or `MAIN`; a patch release that is not said counts as the first."""
    if text == MAIN:
        return _MAIN
    major, minor, *patch = text.removeprefix("v").split(".")
    return int(major), int(minor), int(patch[0]) if patch else 0


@overload
def since(release: str, item: Windowed[T]) -> Windowed[T]: ...
@overload
def since(release: str, item: T) -> Windowed[T]: ...
def since(release: str, item: T | Windowed[T]) -> Windowed[T]:
    """*item*, which exists from *release* on."""
    if isinstance(item, Windowed):
        return Windowed(item.item, version(release), item.until)
    return Windowed(item, version(release))


@overload
def until(release: str, item: Windowed[T]) -> Windowed[T]: ...
@overload
def until(release: str, item: T) -> Windowed[T]: ...
def until(release: str, item: T | Windowed[T]) -> Windowed[T]:
    """*item*, which *release* no longer has."""
    if isinstance(item, Windowed):
        return Windowed(item.item, item.since, version(release))
    return Windowed(item, _FIRST, version(release))


@overload
def in_force(items: Iterable[Windowed[T]], release: Version) -> tuple[T, ...]: ...
@overload
def in_force(items: Iterable[T | Windowed[T]], release: Version) -> tuple[T, ...]: ...
def in_force(items: Iterable[T | Windowed[T]], release: Version) -> tuple[T, ...]:
    """Those of *items* that exist in *release*, in order and without their windows."""
    existing: list[T] = []
    for item in items:
        if not isinstance(item, Windowed):
            existing.append(item)
        elif item.since <= release < item.until:
            existing.append(item.item)
    return tuple(existing)


def holds(fact: Windowed[str], release: Version) -> bool:
    """Whether a *fact* about KubeVirt, put into words, is true of *release*."""
    return fact.since <= release < fact.until


def variant(items: Iterable[T | Windowed[T]], release: Version) -> T:
    """The first of *items*, forms of one thing, that exists in *release*."""
    return in_force(items, release)[0]


Rows = Callable[[Version], tuple[T, ...]]
"""Those of several rows that exist in a release."""
Form = Callable[[Version], T]
"""The form that a thing has in a release."""


def rows(*items: T | Windowed[T]) -> Rows[T]:
    """What `in_force` says of *items*, worked out once a release."""
    return cache(lambda release: in_force(items, release))


def form(*items: T | Windowed[T]) -> Form[T]:
    """What `variant` says of *items*, worked out once a release."""
    return cache(lambda release: variant(items, release))


class Release(NamedTuple):
    """A KubeVirt minor release: what is true of it as a whole.

    *version*: its newest patch, as which it does things; *commit*: of `PREVIEW`, where main was read; *machine_types*:
    architecture and the machine type of VMs that name none; *rollout_strategy*: what holds where its KubeVirt resource
    says nothing; *has_beta_gates*: its beta gates are on unless they are disabled, and a gate that nobody knows stays
    off.
    """

    version: Version
    machine_types: tuple[tuple[str, str], ...] = _MACHINE_TYPES
    rollout_strategy: str = "LiveUpdate"
    has_beta_gates: bool = True
    commit: str = ""

    @property
    def data(self) -> str:
        """Its name in ``schemas/gates.json``."""
        return minor(self.version)

    @property
    def kubernetes(self) -> int:
        """The minor release of Kubernetes (``1.N``) that it is built for."""
        return (NEWEST[1] + 1 if self.commit else self.version[1]) + _KUBERNETES_AHEAD

    @property
    def catalogue(self) -> str:
        """The file in ``schemas/catalog`` with the instancetypes and preferences that it deploys."""
        return f"kubevirt-{MAIN if self.commit else tag(self.version)}.json"


#: The releases that are rendered for, the oldest first. Single fields are in the type table of ``schemas/``; what else
#: a release does in another way has a window where it is done.
RELEASES: tuple[Release, ...] = (
    Release(
        (1, 4, 1),
        machine_types=_WITH_POWER,
        rollout_strategy="Stage",
        has_beta_gates=False,
    ),
    Release(
        (1, 5, 3),
        machine_types=_WITH_POWER,
        rollout_strategy="Stage",
        has_beta_gates=False,
    ),
    Release((1, 6, 6), machine_types=_WITH_POWER, has_beta_gates=False),
    Release((1, 7, 4), has_beta_gates=False),
    Release((1, 8, 4), has_beta_gates=False),
    Release((1, 9, 0)),
)
#: What the next release may be: one commit of main, asked for by name only. What it does otherwise than the newest
#: release is ``since(MAIN, ...)``.
PREVIEW = Release(_MAIN, commit="d923fdb815")
VERSIONS: tuple[Version, ...] = tuple(release.version for release in RELEASES)
NEWEST: Version = VERSIONS[-1]
_BY_MINOR = {release.version[:2]: release for release in (*RELEASES, PREVIEW)}
_DIGITS = 3
_KUBERNETES_AHEAD = 27


def row(release: Version) -> Release:
    """What is true of the minor release of *release*. KeyError for one that is not rendered for."""
    return _BY_MINOR[release[:2]]


#: API group -> its versions, the current one first; all others are converted to that of the newest release
#: (pkg/virt-operator/resource/generate/components/crds.go).
_SERVED: dict[str, tuple[str | Windowed[str], ...]] = {
    KUBEVIRT: ("v1", "v1alpha3"),
    INSTANCETYPE_GROUP: (
        "v1beta1",
        until("1.6", "v1alpha2"),
        until("1.6", "v1alpha1"),
    ),
    f"pool.{KUBEVIRT}": (since("1.7", "v1beta1"), "v1alpha1"),
    f"clone.{KUBEVIRT}": (since("1.5", "v1beta1"), "v1alpha1"),
    f"export.{KUBEVIRT}": (since("1.9", "v1"), "v1beta1", until("1.9", "v1alpha1")),
}


@cache
def served(group: str, release: Version) -> tuple[str, ...]:
    """The versions of an API *group* that KubeVirt *release* serves, the current one first."""
    return in_force(_SERVED.get(group, ()), release)


@cache
def serving(group: str, name: str) -> tuple[Version, ...]:
    """The releases that serve version *name* of an API *group*."""
    return tuple(release for release in VERSIONS if name in served(group, release))


@cache
def release_named(text: str) -> Version | None:
    """The release that *text* asks for (``1.8``, ``v1.8``, ``1.8.2``, ``openshift-4.21``, ``main``), None if none.

    Without a patch release, the newest of its minor release.
    """
    if text.startswith("openshift-"):
        from render.model.cluster_release import openshift

        return release_named(openshift(text) or "")
    if text == MAIN:
        return _MAIN
    if not is_version(text):
        return None
    release = version(text)
    known = _BY_MINOR.get(release[:2])
    return release if known and text.count(".") > 1 else known and known.version


def is_version(text: str) -> bool:
    """Whether *text* is written as releases are: ``1.8``, ``v1.8``, ``v1.8.4``."""
    parts = text.removeprefix("v").split(".")
    return len(parts) in (2, 3) and all(
        len(part) <= _DIGITS and part.isascii() and part.isdecimal() for part in parts
    )


def newest_patch(release: Version) -> Version:
    """The newest known patch of the minor release of *release*."""
    return row(release).version


def minor(release: Version) -> str:
    """``1.8``, or `MAIN`."""
    return MAIN if release == _MAIN else f"{release[0]}.{release[1]}"


def tag(release: Version) -> str:
    """``v1.8.4``, or of `PREVIEW` its branch and commit."""
    return (
        f"{MAIN}-{PREVIEW.commit}"
        if release == _MAIN
        else f"v{release[0]}.{release[1]}.{release[2]}"
    )
