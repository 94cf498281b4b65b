import pytest

from render.diagnostics import codes
from render.diagnostics.codes import worth_saying
from render.diagnostics.diagnostic import Diagnostic, Location, at
from render.model.resource import Origin, from_body
from render.report.findings import find, merge
from render.report.places import Place, Sources

DATA = b"kind: A\nspec:\n  size: 1\n---\nkind: B\n"
ORIGINS = [Origin("f.yaml"), Origin("f.yaml", 1, (), 5), Origin("built"), None]
SOURCES = Sources(ORIGINS, {"f.yaml": DATA})
OBJECTS = [from_body({"kind": "VM", "metadata": {"name": f"n{i}"}}, i) for i in range(4)]


def wrong(index: int, *path: str | int, message: str = "wrong") -> Diagnostic:
    return codes.WRONG_TYPE.at(at(OBJECTS[index], path), message)


def places(*diagnostics: Diagnostic) -> list[str]:
    return [str(found.place) for found in merge(find(diagnostics, SOURCES))]


def test_place_of_a_field_of_a_missing_one_and_of_an_object() -> None:
    assert places(wrong(0, "spec", "size"), wrong(1)) == ["f.yaml:3:3", "f.yaml:5:1"]
    assert places(wrong(0, "spec", "count", "guest")) == ["f.yaml:2:1"]


def test_object_of_a_file_that_is_not_kept_has_no_line() -> None:
    assert places(wrong(2, "spec")) == ["built"]
    assert SOURCES.place(at(OBJECTS[3])) == SOURCES.place(Location()) == Place()


def test_files_come_in_order_and_what_has_none_first() -> None:
    syntax = codes.YAML_SYNTAX.at(Location(file="a.yaml", line=9, column=1), "odd")
    usage = codes.USAGE.at(Location(), "odd")
    found = places(wrong(1), wrong(0, "spec"), syntax, usage)
    assert found == ["", "a.yaml:9:1", "f.yaml:2:1", "f.yaml:5:1"]


def test_finding_in_a_shared_base_is_reported_once() -> None:
    other = Sources([None, *ORIGINS], {"f.yaml": DATA})
    moved = from_body(OBJECTS[0].body, 1)
    again = codes.WRONG_TYPE.at(at(moved, ("spec",)), "wrong")
    elsewhere = codes.WRONG_TYPE.at(at(moved, ("spec",)), "wrong too")
    found = merge([*find([wrong(0, "spec")], SOURCES), *find([again, elsewhere], other)])
    assert [item.diagnostic.message for item in found] == ["wrong", "wrong too"]


def test_object_and_field_are_named_unless_the_message_does() -> None:
    def text(message: str) -> str:
        (found,) = find([wrong(0, "spec", "size", message=message)], SOURCES)
        return found.text

    assert text("odd") == "VM n0: spec.size: odd"
    assert text("the field spec.size is odd") == "VM n0: the field spec.size is odd"
    assert text("VM n0 has spec.size twice") == "VM n0 has spec.size twice"


def test_a_field_that_the_message_has_without_its_indexes_is_said_once() -> None:
    refused = wrong(
        0, "spec", "disks", 1, "bus", message="got 3: spec.disks.bus in body must be of type string"
    )
    (found,) = find([refused], SOURCES)
    assert found.text == "VM n0: got 3: spec.disks[1].bus in body must be of type string"


def test_an_item_of_a_list_that_the_message_names_is_said_once() -> None:
    refused = wrong(0, "spec", "disks", 1, message="spec.disks[1] must have exactly one source")
    (found,) = find([refused], SOURCES)
    assert found.text == "VM n0: spec.disks[1] must have exactly one source"


@pytest.mark.parametrize(
    ("path", "message", "named"),
    [
        (("volumes", 1, "name"), "spec.volumes[1].Name 'data' not found.", True),
        (("volumes", 1, "bootOrder"), "spec.volumes[1] must have a boot order > 0", True),
        (("nics", 0, "mac"), "interface spec.nics[0].name has malformed MAC address", True),
        (("nics", 0, "mac"), "interface spec.nics[0].name.", True),
        (("volumes", 1, "name"), "spec.volumes[11].Name 'data' not found.", False),
        (("volumes", 1, "name"), "spec.volumes[1].disk.bus is odd", False),
        (("volumes", 1, "name"), "spec.volumes[1][0] is odd", False),
        (("running",), "spec.template is missing", False),
    ],
)
def test_no_path_is_said_twice(path: tuple[str | int, ...], message: str, *, named: bool) -> None:
    (found,) = find([codes.WRONG_TYPE.at(at(OBJECTS[0], ("spec", *path)), message)], SOURCES)
    field = found.diagnostic.field
    assert found.text == f"VM n0: {'' if named else f'{field}: '}{message}"


def test_notes_on_the_reading_and_repeated_notes_are_left_out() -> None:
    skipped = codes.FILE_SKIPPED.at(Location(file="x"), "x skipped")
    used = codes.BUNDLED_USED.at(at(OBJECTS[0]), "fedora is bundled")
    gone = [codes.OBJECT_GONE.at(at(OBJECTS[0]), "fedora is gone")] * 2
    kept = [
        diagnostic.code for diagnostic in worth_saying([skipped, wrong(0), wrong(1), used, *gone])
    ]
    assert kept == [codes.WRONG_TYPE.number, codes.OBJECT_GONE.number, codes.WRONG_TYPE.number]


def test_a_note_about_each_of_several_objects_is_said_of_each() -> None:
    gone = [codes.LEFT_OUT.at(at(OBJECTS[i]), "left out") for i in (0, 1, 1)]
    assert worth_saying(gone) == gone[:2]
