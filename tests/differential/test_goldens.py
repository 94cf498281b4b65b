"""What we render is what KubeVirt v1.9.0 answered, for every recorded case."""

import pytest

from render import Rendered, Settings, render
from render.model import tree
from tests.support import answers
from tests.support.admission import is_refused
from tests.support.goldens import MODES, cases

FAMILIES = (
    "apply", "requirements", "infer", "pinned", "defaults", "matcher", "fleet", "catalog", "preset", "schema",
    "settings", "admission-fields",
)  # fmt: skip
#: Texts of the admission that must come back in ours.
ADMISSION = (
    "conflicts with selected instance type",
    "failure checking preference requirements",
    "are not divisible by",
)


#: Answers that were not recorded for every machine that renders.
NOT_ALWAYS = {
    "VirtualMachine": ("vm",),
    "VirtualMachineInstance": ("vm", "expand", "expand_mutated"),
}


#: ... and of none of a family.
NOT_RECORDED = {
    ("settings", "expand_mutated"),
    *(("admission-fields", answer) for answer in ("vm", "expand", "expand_mutated")),
}


@pytest.fixture(scope="module", params=FAMILIES)
def family(request: pytest.FixtureRequest) -> str:
    """Each family, with all of its tests in a row: they share what it renders to."""
    return str(request.param)


def rendered_errors(rendered: Rendered) -> list[str]:
    return [d.message for d in rendered.diagnostics if d.is_error]


@pytest.mark.parametrize("answer", MODES)
def test_every_answer_is_ours(family: str, answer: str) -> None:
    wrong = []
    compared = 0
    for case in cases(family):
        rendered = answers.rendered(case, **MODES[answer])
        for machine, want in zip(answers.machines(case), case["want"], strict=True):
            # The subresource takes the body as it is sent, nulls and all: no answer was recorded.
            if "panics" in want or (answer == "expand" and "nulls" in want.get("crd", {})):
                continue
            if answer in want:
                compared += 1
                expected = answers.wanted(case, machine, want[answer])
                if answers.result_for(rendered, machine) != expected:
                    wrong.append((case["id"], machine["metadata"]["name"]))
            elif answer == "expand" and "nulls" in want.get("crd", ()):
                continue  # that subresource takes its body as it is sent, and nobody sends it nulls
            elif (family, answer) in NOT_RECORDED:
                continue
            elif answer not in NOT_ALWAYS[machine["kind"]] and not rendered_errors(rendered):
                wrong.append((case["id"], "neither an answer nor an error"))
    assert not wrong
    assert compared or (family, answer) in {("preset", "vm"), *NOT_RECORDED}


def test_kubevirts_texts_are_in_our_errors(family: str) -> None:
    missing = []
    for case in cases(family):
        rendered = answers.rendered(case)
        for machine, want in zip(answers.machines(case), case["want"], strict=True):
            if "panics" in want or (family == "schema" and want.get("crd", {}).keys() - {"nulls"}):
                continue
            texts = [want["mutate_error"]["message"]] if "mutate_error" in want else []
            texts += [
                cause["message"]
                for cause in (want.get("admit") or {}).get("causes") or ()
                if any(part in cause["message"] for part in ADMISSION)
            ]
            ours = answers.errors_of(rendered, machine)
            missing += [
                (case["id"], text) for text in texts if not any(text in our for our in ours)
            ]
    assert not missing


def test_no_false_alarm(family: str) -> None:
    alarms = []
    for case in cases(family):
        if any(not r.get("allowed") or "crd" in r for r in case.get("resources", ())):
            continue
        rendered = answers.rendered(case)
        for machine, want in zip(answers.machines(case), case["want"], strict=True):
            if not is_refused(want) and "panics" not in want:
                alarms += [(case["id"], text) for text in answers.errors_of(rendered, machine)]
    assert not alarms


def test_every_null_that_the_api_server_drops_is_a_warning_and_no_refusal() -> None:
    checked = 0
    for case in cases("schema"):
        rendered = answers.rendered(case)
        for want in case["want"]:
            for field in want.get("crd", {}).get("nulls", ()):
                checked += 1
                found = [d for d in rendered.diagnostics if d.field == field]
                missing = any(
                    " in body is required" in item for item in want["crd"].get("invalid", ())
                )
                codes = {"VR107"} if missing else {"VR114"}
                assert codes <= {d.code for d in found}, case["id"]
    assert checked >= 20


def test_what_makes_kubevirt_crash_is_a_clear_error(family: str) -> None:
    for case in cases(family):
        for machine, want in zip(answers.machines(case), case["want"], strict=True):
            if "panics" in want:
                assert answers.errors_of(answers.rendered(case), machine), case["id"]


def test_a_rendered_vm_gives_the_same_vmi_and_stays_as_it_is(family: str) -> None:
    """Promises 1 and 4: the same VMI, and rendering again changes nothing."""
    checked = sum(map(answers.kept_promises, cases(family)))
    assert checked or family == "preset"


def seeded(mutated: answers.Json, sent: answers.Json) -> answers.Json:
    """*mutated* without what the cluster seeds and keeps, where *sent* leaves it open."""
    body: answers.Json = tree.copy(mutated)
    for path in (
        ("spec", "architecture"),
        ("spec", "domain", "machine"),
        ("metadata", "annotations", "kubevirt.io/pci-topology-version"),
        ("metadata", "annotations"),
        ("metadata", "creationTimestamp"),
        ("metadata",),
    ):
        if tree.get(sent, "spec", "template", *path) is None:
            tree.remove(body, "spec", "template", *path)
    return body


def test_the_webhook_only_seeds_what_the_cluster_keeps(family: str) -> None:
    """Promise 2: every field that we emit survives admission, and none is added but what is seeded."""
    checked = 0
    for case in cases(family):
        first = answers.rendered(case)
        vms = [
            (machine, sent)
            for machine in answers.machines(case)
            if machine["kind"] == "VirtualMachine"
            and (sent := answers.result_for(first, machine)) is not None
        ]
        if not vms:
            continue
        # A VM without matchers comes back from expand-spec as the webhook made it.
        stored = render(first.resources, Settings(emit="expand", stored=True))
        for machine, sent in vms:
            mutated = answers.result_for(stored, machine)
            if mutated is not None:
                checked += 1
                assert seeded(mutated, sent) == sent, case["id"]
    assert checked or family == "admission-fields"  # no VMs
