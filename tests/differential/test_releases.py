"""What we render for an older release is what that release answered, for every recorded case."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from render import schemas
from render.model import tree
from render.model.release import MAIN, NEWEST, Version, release_named
from tests.support import answers, goldens
from tests.support.admission import is_refused
from tests.support.goldens import MODES
from tests.support.releases import RELEASES, cases

Json = dict[str, Any]
#: Texts of the admission that must come back in ours.
ADMISSION = (
    "conflicts with selected instance type",
    "failure checking preference requirements",
    "are not divisible by",
    "Failure to find",
)


@pytest.fixture(scope="module", params=RELEASES)
def release(request: pytest.FixtureRequest) -> str:
    """Each release, with all of its tests in a row: they share what its cases render to."""
    return str(request.param)


def entries(release: str) -> Iterator[tuple[Json, Json, Json]]:
    """Each case with a machine of it and the answer about that, where there is one."""
    for case in cases(release):
        for machine, want in zip(answers.machines(case), case["want"], strict=True):
            if "panics" not in want:
                yield case, machine, want


def version(release: str) -> Version:
    found = release_named(release)
    assert found
    return found


@pytest.mark.parametrize("answer", MODES)
def test_every_answer_is_ours(release: str, answer: str) -> None:
    wrong, compared = [], 0
    for case in cases(release):
        if not any(answer in want for want in case["want"]):
            continue
        rendered = answers.rendered(case, kubevirt=release, **MODES[answer])
        for machine, want in zip(answers.machines(case), case["want"], strict=True):
            if answer in want and "panics" not in want:
                compared += 1
                expected = answers.wanted(case, machine, want[answer])
                if answers.result_for(rendered, machine) != expected:
                    wrong.append((case["id"], machine["metadata"]["name"]))
    assert wrong == []
    assert compared > 600


def test_its_texts_are_in_our_errors(release: str) -> None:
    missing, compared = [], 0
    for case, machine, want in entries(release):
        if "crd" in want:
            continue
        texts = [want["mutate_error"]["message"]] if "mutate_error" in want else []
        causes = (want.get("admit") or {}).get("causes") or ()
        texts += [
            cause["message"]
            for cause in causes
            if any(part in cause["message"] for part in ADMISSION)
        ]
        if texts:
            compared += len(texts)
            ours = answers.errors_of(answers.rendered(case, kubevirt=release), machine)
            missing += [
                (case["id"], text) for text in texts if not any(text in our for our in ours)
            ]
    assert missing == []
    assert compared > 200


def test_what_it_would_prune_is_an_error_at_that_field(release: str) -> None:
    missing, compared = [], 0
    for case, machine, want in entries(release):
        pruned = want.get("crd", {}).get("pruned", ())
        if not pruned:
            continue
        found = answers.rendered(case, kubevirt=release).diagnostics
        places = [
            ".".join(map(str, diagnostic.location.path))
            for diagnostic in found
            if diagnostic.is_error
            and diagnostic.resource
            and diagnostic.resource.name == machine["metadata"]["name"]
        ]
        for path in pruned:
            compared += 1
            dotted = re.sub(r"\[(\d+)\]", r".\1", path)
            # A field below one of another type is reported with that.
            if not any(dotted == place or dotted.startswith(f"{place}.") for place in places):
                missing.append((case["id"], path))
    assert missing == []
    assert compared > 20


def test_no_false_alarm(release: str) -> None:
    """No error about what the release admits and starts."""
    alarms, compared = [], 0
    for case, machine, want in entries(release):
        if any(not r.get("allowed") or "crd" in r for r in case["resources"]):
            continue
        if not is_refused(want):
            compared += 1
            rendered = answers.rendered(case, kubevirt=release)
            alarms += [(case["id"], text) for text in answers.errors_of(rendered, machine)]
    assert alarms == []
    assert compared > 50


def stored(rendered: Any, case: Json, machine: Json, release: Version) -> list[Json]:
    """What the ControllerRevisions hold that *machine* names, as *release* reads it."""
    found = []
    objects = [*case["objects"], *rendered.resources]
    revisions = {
        (body["metadata"].get("namespace"), body["metadata"]["name"]): body["data"]
        for body in objects
        if body["kind"] == "ControllerRevision"
    }
    body = answers.result_for(rendered, machine) or {}
    for word in ("instancetype", "preference"):
        name = tree.get(body, "spec", word, "revisionName")
        data = revisions.get((machine["metadata"].get("namespace"), name))
        if data:
            type_name = f"instancetype.VirtualMachine{word.title()}Spec"
            spec, _ = schemas.decode(data["spec"], type_name, release)
            spec = schemas.encode(spec, type_name, release)
            found.append({"kind": data["kind"], "name": data["metadata"]["name"], "spec": spec})
    return found


def test_revisions_hold_what_it_would_store(release: str) -> None:
    wrong, compared = [], 0
    for case in cases(release):
        if not any("revisions" in want for want in case["want"]):
            continue
        rendered = answers.rendered(case, kubevirt=release, emit="revisions")
        for machine, want in zip(answers.machines(case), case["want"], strict=True):
            if "revisions" not in want or answers.result_for(rendered, machine) is None:
                continue
            compared += 1
            found = stored(rendered, case, machine, version(release))
            if sorted(found, key=str) != sorted(want["revisions"], key=str):
                wrong.append((case["id"], machine["metadata"]["name"]))
    assert wrong == []
    assert compared > 500


def test_a_rendered_vm_gives_the_same_vmi_and_stays_as_it_is(release: str) -> None:
    """Promises 1 and 4: the same VMI, and rendering again changes nothing."""
    checked = sum(answers.kept_promises(case, kubevirt=release) for case in cases(release))
    assert checked > 100


def test_main_answers_as_the_newest_release_does() -> None:
    """Nothing was recorded of main: what it does otherwise has tests of its own, and recorded cases meet one gate.

    What that refuses before main has no pod.
    """
    compared = 0
    for family in ("admission-clean", "admission-devices", "admission-gates", "defaults", "fleet"):
        for case in goldens.cases(family):
            texts, resources = {}, {}
            for release in (MAIN, "1.9"):
                found = answers.rendered(case, kubevirt=release)
                texts[release] = [
                    diagnostic.message
                    for diagnostic in found.diagnostics
                    if not re.search(r"DecentralizedLiveMigration|makes no pod", diagnostic.message)
                ]
                resources[release] = [without_stamps(resource) for resource in found.resources]
            compared += 1
            assert texts[MAIN] == texts["1.9"], case["id"]
            assert resources[MAIN] == resources["1.9"], case["id"]
    assert compared > 500


def without_stamps(resource: Json) -> Json:
    """*resource* without the annotations that name the release."""
    metadata = resource["metadata"]
    kept = {
        key: value
        for key, value in (metadata.get("annotations") or {}).items()
        if not key.startswith("virt-render.dev/")
    }
    return {**resource, "metadata": {**metadata, "annotations": kept}}


def test_the_newest_release_is_not_among_them() -> None:
    assert all(version(release) < NEWEST for release in RELEASES)
