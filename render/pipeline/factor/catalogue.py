"""The definitions that VMs may be given, indexed by what they bring."""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from render.model import tree
from render.model.catalogue import Catalogue, Definition, Key
from render.model.fieldpath import FieldPath
from render.model.kinds import INSTANCETYPE, KIND_CLASSES, PREFERENCE, KindClass
from render.model.named_tuple import NamedTuple
from render.model.regex import pattern
from render.model.release import Version
from render.model.resource import TEMPLATE
from render.model.tree import Tree
from render.pipeline.factor import instancetypes
from render.pipeline.factor.answers import DefinitionName, Home
from render.pipeline.factor.instancetypes import GuestSize, InstancetypeProfile
from render.pipeline.factor.preferences import PreferenceProfile, Profiles
from render.pipeline.factor.subject import PlainMachine

_HOMES: tuple[Home, ...] = ("input", "cluster", "bundled", "new")
_WORD = pattern(r"[a-z]+")
#: First words of names of preferences that are for any system.
_GENERIC = frozenset({"legacy", "linux"})
_DIGITS = pattern(r"[0-9]+")
_SQUEEZED = pattern(r"[^a-z0-9]+")
#: Where a VM says which system it runs: its annotations and labels, and where its disks come from.
_NAMED: tuple[FieldPath, ...] = (
    ("metadata", "annotations"),
    ("metadata", "labels"),
    (*TEMPLATE, "metadata", "annotations"),
    (*TEMPLATE, "metadata", "labels"),
    (*TEMPLATE, "spec", "volumes"),
    ("spec", "dataVolumeTemplates"),
)
#: Of these what names an image, not what is written into it.
_TEXTS = frozenset({"image", "url", "name", "os", "flavor", "workload"})


class Offer(NamedTuple):
    """A definition that VMs of *namespace* may name, ``""`` for all, with its *spec*."""

    name: DefinitionName
    namespace: str
    spec: Tree

    def reaches(self, subject: PlainMachine) -> bool:
        """Whether the VM may name it."""
        return self.namespace in ("", subject.namespace)


class SizeOffer(NamedTuple):
    """An instancetype, and what it brings."""

    offer: Offer
    size: InstancetypeProfile


class ProfileOffer(NamedTuple):
    """A preference, and what the rules see of it."""

    offer: Offer
    profile: PreferenceProfile


class Offers:
    """All definitions that exist; those that are alike in all that reaches a VM are asked about once."""

    def __init__(self, catalogue: Catalogue, release: Version) -> None:
        self._catalogue = catalogue
        self._release = release
        self.profiles = Profiles(release)

    @cached_property
    def sizes(self) -> dict[GuestSize, list[SizeOffer]]:
        """The instancetypes by their size."""
        by_size: dict[GuestSize, list[SizeOffer]] = {}
        for offer in self._of(INSTANCETYPE):
            size = instancetypes.size_of(offer.spec, self._release)
            by_size.setdefault(size.size, []).append(SizeOffer(offer, size))
        return by_size

    @cached_property
    def preferences(self) -> list[list[ProfileOffer]]:
        """The preferences, in groups of the same content."""
        groups: dict[str, list[ProfileOffer]] = {}
        for offer in self._of(PREFERENCE):
            profile = self.profiles.profile(offer.spec)
            groups.setdefault(profile.content, []).append(ProfileOffer(offer, profile))
        return list(groups.values())

    @cached_property
    def _systems(self) -> frozenset[str]:
        """The systems that preferences which KubeVirt deploys are called after."""
        names = (name for kind, name in self._catalogue.bundled if kind == PREFERENCE.cluster)
        return frozenset(map(_first_word, names)) - _GENERIC

    def is_foreign(self, offer: Offer, hints: str) -> bool:
        """Whether KubeVirt deploys *offer* for another system than the one that *hints* tell, if they do."""
        word = _first_word(offer.name.name)
        if offer.name.home != "bundled" or word not in self._systems:
            return False
        if word not in hints:
            return any(system in hints for system in self._systems)
        version = _DIGITS.match(_SQUEEZED.sub("", offer.name.name.lower()), len(word))
        told = re.findall(rf"{word}([0-9]+)", hints) if version else ()
        return bool(told) and not any(number.startswith(version[0]) for number in told if version)

    def _of(self, kind_class: KindClass) -> Iterator[Offer]:
        kinds = (kind_class.namespaced, kind_class.cluster)
        known: set[Key] = set()
        sources: tuple[tuple[Home, Iterable[tuple[Key, Definition]]], ...] = (
            ("input", self._catalogue.definitions.items()),
            ("cluster", self._catalogue.elsewhere.items()),
        )
        for home, definitions in sources:
            for key, definition in definitions:
                if key.kind in kinds and key not in known:
                    known.add(key)
                    named = DefinitionName(key.kind, key.name, home)
                    yield Offer(named, key.namespace, definition.spec)
        for kind, name in self._catalogue.bundled:
            if kind == kind_class.cluster and Key(kind, "", name) not in known:
                spec = self._catalogue.bundled[kind, name]
                yield Offer(DefinitionName(kind, name, "bundled"), "", spec)


def rank(offer: Offer, hints: str) -> tuple[int, int, int, str]:
    """What decides between definitions that bring the same: where they are, the words of the VM, what they require."""
    name = offer.name.name.lower()
    word = _first_word(name)
    squeezed = _SQUEEZED.sub("", name)
    is_exact = squeezed in hints and word not in _GENERIC
    likeness = 2 if is_exact else int(bool(word) and word in hints)
    required = len(tree.get(offer.spec, "requirements") or ())
    return _HOMES.index(offer.name.home), -likeness, required, offer.name.name


def _first_word(name: str) -> str:
    match = _WORD.match(name.lower())
    return match[0] if match else ""


def hints_of(subject: PlainMachine) -> str:
    """The words by which the VM tells its system, without what stands between them."""
    body = subject.resource.body
    words = [text for path in _NAMED for text in _texts(tree.get(body, *path))]
    return " ".join(_SQUEEZED.sub("", word.lower()) for word in (*words, subject.resource.name))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            is_named = isinstance(key, str) and (key in _TEXTS or key.rpartition("/")[2] in _TEXTS)
            if isinstance(item, str):
                if is_named:
                    yield item
                elif isinstance(key, str) and key.startswith("os.template.kubevirt.io/"):
                    yield key
            else:
                yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def kind_class_of(word: str) -> KindClass:
    """The kind class of a matcher's *word*."""
    return next(kind_class for kind_class in KIND_CLASSES if kind_class.word == word)
