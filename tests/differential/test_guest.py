"""What cloud-init says of user data and network data, and what `check` makes of the same texts."""

import gzip
import json
from functools import cache
from typing import Any

from render.guest import engine, texts
from render.guest.engine import CLOUD_CONFIG, SchemaAnswer
from tests.support.goldens import FOLDER


@cache
def cases() -> list[dict[str, Any]]:
    with gzip.open(FOLDER / "guest" / "cloud-init.ndjson.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def answer_to(case: dict[str, Any]) -> SchemaAnswer:
    judge = engine.user_data if case["kind"] == "user" else engine.network_data
    return judge(case["text"])


def errors_of(answer: SchemaAnswer) -> set[str]:
    """The paths of errors, as cloud-init writes them."""
    fault = answer.loaded.fault if answer.loaded else None
    if fault:
        return {f"format-l{fault.line}.c{fault.column}"}
    return {".".join(map(str, problem.path)) for problem in answer.errors}


def is_looked_into(case: dict[str, Any]) -> bool:
    return bool(case["want"].get("type", CLOUD_CONFIG) == CLOUD_CONFIG)


def test_there_are_cases() -> None:
    assert len(cases()) > 1_000
    assert sum(map(is_looked_into, cases())) > 1_000


def test_the_first_line_decides_the_type() -> None:
    wrong = [
        case["id"]
        for case in cases()
        if case["kind"] == "user" and engine.type_of(case["text"]) != case["want"]["type"]
    ]
    assert wrong == []


def test_errors_are_where_cloud_init_has_them() -> None:
    wrong = [
        (case["id"], errors, wanted)
        for case in filter(is_looked_into, cases())
        if (errors := errors_of(answer_to(case)))
        != (wanted := {path for path, _ in case["want"].get("errors", ())})
    ]
    assert wrong == []


def test_what_is_checked_and_has_no_error_is_what_cloud_init_accepts() -> None:
    for case in filter(is_looked_into, cases()):
        answer = answer_to(case)
        is_accepted = answer.is_checked and not answer.errors
        assert is_accepted is bool(case["want"].get("checked")), case["id"]


def test_deprecations_are_where_cloud_init_has_them() -> None:
    requested = [
        case for case in cases() if is_looked_into(case) and "deprecations" in case["want"]
    ]
    wrong = [
        (case["id"], paths, wanted)
        for case in requested
        if (
            paths := {
                ".".join(map(str, deprecation.path)) for deprecation in answer_to(case).deprecations
            }
        )
        != (wanted := {path for path, _ in case["want"]["deprecations"]})
    ]
    assert len(requested) > len(cases()) // 3
    assert wrong == []


def test_deprecations_have_their_version_and_words() -> None:
    for case in filter(is_looked_into, cases()):
        told = dict(case["want"].get("deprecations", ()))
        for deprecation in answer_to(case).deprecations:
            message = told[".".join(map(str, deprecation.path))]
            assert deprecation.version in message, case["id"]


def test_check_says_nothing_of_what_cloud_init_accepts() -> None:
    for case in filter(is_looked_into, cases()):
        if case["want"].get("checked"):
            judge = texts.user_data if case["kind"] == "user" else texts.network_data
            loud = [remark for remark in judge(case["text"]).remarks if not remark.is_note]
            assert loud == [], case["id"]


def test_check_warns_of_most_that_cloud_init_refuses() -> None:
    """Not of keys of netplan's, and of one on top that may be another agent's."""
    refused = [
        case
        for case in filter(is_looked_into, cases())
        if case["kind"] == "user" and case["want"].get("errors")
    ]
    silent = [case["id"] for case in refused if not texts.user_data(case["text"]).remarks]
    assert silent == []


def test_check_warns_of_a_missing_first_line_alone() -> None:
    headless = [case for case in cases() if case["want"].get("header")]
    assert len(headless) > 100
    for case in headless:
        checks = {remark.check for remark in texts.user_data(case["text"]).remarks}
        assert checks <= {"guest/first-line"}, case["id"]
