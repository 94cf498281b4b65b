import pytest

from render.yaml.excerpts.lines import Excerpts


@pytest.mark.parametrize(
    ("text", "number", "printed"),
    [
        ("userData: hunter2", 1, "userData: [redacted]"),
        ('  "password" : "hunter2"', 1, '  "password" : [redacted]'),
        ("a: {userData: hunter2, b: c}", 1, "a: {userData: [redacted]b: c}"),
        ('{"userData":"hunter2"}', 1, '{"userData":[redacted]'),
        ("userData: |\n  hunter2", 2, "  [redacted]"),
        ("- userData: |\n    a:\n      hunter2", 3, "      [redacted]"),
        ("userData: |\n  a\n\n  b: hunter2", 4, "  [redacted]"),
        ("userData:\nname: b", 2, "name: b"),
        ("volume:\n  userData: |\n    hunter2\n  name: b", 4, "  name: b"),
        ("kind: Secret\ndata:\n  a: hunter2", 3, "  [redacted]"),
        ("data:\n  a: hunter2\nkind: Secret", 2, "  [redacted]"),
        ("data:\n  a: b\n---\nkind: Secret", 2, "  a: b"),
        ("kind: Secret\n---\ndata:\n  a: b", 4, "  a: b"),
        ("kind: ConfigMap\ndata:\n  a: b", 3, "  [redacted]"),
        ("userDataSecretRef: {name: a}", 1, "userDataSecretRef: {name: a}"),
        ("image: u:hunter2@reg/x", 1, "image: [redacted]@reg/x"),
        ("image: 'u:hun''ter2@reg/x'", 1, "image: [redacted]"),
        ('image: "https://u:hun\\\n ter2@reg/x"', 1, "image: [redacted]"),
        ("annotations: {a/b: {c: hunter2}}", 1, "annotations: {a/b: [redacted]"),
        ("annotations: {a/b: c}", 1, "annotations: {a/b: c}"),
    ],
)
def test_lines_are_shown_without_what_is_secret(text: str, number: int, printed: str) -> None:
    assert Excerpts(text.encode()).at(number, 1)[0] == printed


BROKEN = "kind: VirtualMachine\nspec\n  runStrategy: Always\n"
USER_DATA = "  cloudInitNoCloud:\n    userData: hunter2\n  name: hunter2\n"


@pytest.mark.parametrize(
    ("text", "number", "printed"),
    [
        (BROKEN + USER_DATA, 2, "spec"),
        (BROKEN + USER_DATA, 3, "  runStrategy: Always"),
        (BROKEN + USER_DATA, 4, "  [redacted]"),
        (BROKEN + USER_DATA, 6, "  [redacted]"),
        # A text, whatever it is, in any notation, and what follows it.
        ("a: |\n  hunter2\n" + BROKEN + USER_DATA, 2, "  [redacted]"),
        ("a: 'b\n  hunter2'\n" + BROKEN + USER_DATA, 2, "  [redacted]"),
        # What is named later on.
        ("a: &a hunter2\n" + BROKEN + "password: *a\n", 1, "[redacted]"),
        # A word that is not written as it is read.
        ('"d\\x61ta":\n' + BROKEN + USER_DATA, 2, "[redacted]"),
        # Whose contents have any keys.
        ("kind: Secret\ndat:\n  a: hunter2\nspec\n", 3, "  [redacted]"),
        ("kind: ConfigMap\ndat:\n  a: hunter2\nspec\npassword: a\n", 3, "  [redacted]"),
        # What came of a document that was broken in a text.
        (f"{BROKEN}{USER_DATA}---\n{BROKEN}", 8, "[redacted]"),
    ],
)
def test_of_a_broken_document_lines_are_shown_before_what_may_be_secret(
    text: str, number: int, printed: str
) -> None:
    assert Excerpts(text.encode()).at(number, 1)[0] == printed


OPEN_PATCH = "kind: VirtualMachine\nmetadata:\n  name: web\nspec:\n  runStrategy: Halted\n"
REMOVAL = "- op: remove\n  path: /spec/runStrategy\n"


def patched(text: str, around: str = "patches:\n- {}patch: |\n{}") -> str:
    return around.format("", "".join(f"    {line}\n" for line in text.splitlines()))


@pytest.mark.parametrize(("text", "number"), [(OPEN_PATCH, 5), (OPEN_PATCH, 7), (REMOVAL, 4)])
def test_a_patch_in_a_kustomization_without_anything_secret_is_shown(
    text: str, number: int
) -> None:
    whole = patched(text)
    line = whole.splitlines()[number - 1]
    assert Excerpts(whole.encode()).at(number, 1)[0] == line
    assert "[redacted]" not in line


_OPERATIONS = """\
- op: add
  path: /spec/template/spec/volumes/-
  value:
    name: hunter2
    path: /hunter2
- op: replace
  value: hunter2
  path: "/spec/runStrategy"
- {op: add, path: /spec/x, value: hunter2}
- op: add # hunter2
- Op: add
  Value: hunter2
"""


def test_of_operations_what_they_do_and_where_is_shown() -> None:
    whole = patched(_OPERATIONS)
    excerpts = Excerpts(whole.encode())
    lines = [excerpts.at(number + 3, 1)[0].strip() for number in range(12)]
    assert [number for number, line in enumerate(lines) if line != "[redacted]"] == [
        0, 1, 2, 5, 7, 10,
    ]  # fmt: skip
    assert lines[7] == 'path: "/spec/runStrategy"'
    assert "hunter2" not in "".join(lines)


_SIZE = "path: /spec/template/spec/domain/memory/guest"


@pytest.mark.parametrize(
    ("operation", "is_shown"),
    [
        (f"- op: add\n  {_SIZE}\n  value: 2GB", True),
        (f'- op: add\n  {_SIZE}\n  value: "2GB"', True),
        (f"- op: add\n  {_SIZE}\n  value: 2GB # hunter2", False),
        (f"- op: add\n  {_SIZE}\n  value: {{a: 2GB}}", False),
        (f"- op: add\n  {_SIZE}\n  value: *a", False),
        ("- op: add\n  path: /spec/template/spec/volumes/0/name\n  value: 2GB", False),
        ("- op: add\n  path: /data/memory\n  value: 2GB", False),
        ("- op: add\n  path: /spec/template/spec/domain/cpu/password\n  value: 2GB", False),
    ],
)
def test_the_size_that_an_operation_sets_is_shown(operation: str, *, is_shown: bool) -> None:
    """No secret stands at such a path, whatever the target is; and it may stand around the value, which is a word."""
    line = Excerpts(patched(operation).encode()).at(5, 1)[0]
    assert (line.strip() == operation.splitlines()[2].strip()) is is_shown, line
    assert is_shown or line.strip() == "[redacted]"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("- op: add\n   path: /spec/x\n  op: hunter2\n  value: |\n   path: /hunter2", 2),
        ("- op: add\n  value: hunter2\n path: /hunter2", 1),
        ("- op: add\n\tpath: /spec/x\n  x: hunter2\n  path: /hunter2", 2),
    ],
)
def test_of_broken_operations_that_is_shown_before_all_else(text: str, number: int) -> None:
    whole = patched(text.replace("op: hunter2", "of: hunter2"))
    excerpts = Excerpts(whole.encode())
    lines = [excerpts.at(at + 3, 1)[0].strip() for at in range(text.count("\n") + 1)]
    assert "[redacted]" not in lines[:number]
    assert {*lines[number:]} == {"[redacted]"}


@pytest.mark.parametrize("form", [">-\n    {0}", "'{0}'", '"{0}"', "{0}"])
def test_operations_in_another_notation_are_hidden_as_a_whole(form: str) -> None:
    text = form.format("- {op: add, path: /spec/x, value: hunter2}")
    whole = f"patches:\n- patch: {text}\n"
    excerpts = Excerpts(whole.encode())
    assert "hunter2" not in "".join(excerpts.at(number, 1)[0] for number in (2, 3))


@pytest.mark.parametrize(
    "more",
    [
        "password: hunter2",
        "x: hunter2 # the token",
        "cloudInitNoCloud: {x: hunter2}",
        "cloudInitNoCloud:\n  userData: |\n    hunter2",
        "sysprep: {x: hunter2}",
        "env: [{name: a, value: hunter2}]",
        "command: [hunter2]",
        "args:\n- hunter2",
        "data: {a: hunter2}",
        "stringData: {a: hunter2}",
        "image: https://u:hunter2@host/x",
        'x: "\\x68unter2"',
        "x: [hunter2",
        "x: 'hunter2",
        "x: |\n  y: hunter2\n  z: a",
        "patch: |\n  y: hunter2\n  z: a",
        "annotations:\n  a: |\n    b: hunter2\n    c: d",
        "---\nx: hunter2",
    ],
)
def test_a_patch_with_anything_that_may_be_secret_is_hidden_as_a_whole(more: str) -> None:
    whole = patched(f"{OPEN_PATCH}{more}\n")
    excerpts = Excerpts(whole.encode())
    for number in range(3, len(whole.splitlines()) + 1):
        assert excerpts.at(number, 1)[0].strip() in {"[redacted]", ""}, number


@pytest.mark.parametrize(
    "around",
    [
        "kind: Secret\nstringData:\n  {}patch: |\n{}",
        "kind: ConfigMap\ndata:\n  {}patch: |\n{}",
        "userData:\n  {}patch: |\n{}",
        "cloudInitNoCloud:\n  {}patch: |\n{}",
        "annotations:\n  {}patch: |\n{}",
        "a:\n  {}other: |\n{}",
    ],
)
def test_what_is_called_a_patch_where_contents_stand_is_hidden(around: str) -> None:
    whole = patched(OPEN_PATCH, around)
    excerpts = Excerpts(whole.encode())
    first = whole.splitlines().index("    kind: VirtualMachine") + 1
    assert {excerpts.at(n, 1)[0].strip() for n in range(first, first + 5)} == {"[redacted]"}


def test_patches_in_patches_are_not_followed() -> None:
    text = "x: y\n"
    for _ in range(150):
        text = "patch: |\n" + "".join(f" {line}\n" for line in text.splitlines())
    assert "x" not in Excerpts(text.encode()).at(151, 1)[0]


@pytest.mark.parametrize(
    ("text", "column", "at"),
    [
        ("a: https://user:hunter2@host/x", 11, 11),
        ("a: https://user:hunter2@host/x", 12, 12),
        ("a: https://user:hunter2@host/x", 13, 0),
        ("userData: hunter2", 11, 11),
        ("userData: hunter2", 13, 0),
        ("a: b # password: hunter2", 17, 17),
        ("a: b # password: hunter2", 19, 0),
    ],
)
def test_a_column_is_marked_up_to_where_something_is_hidden(
    text: str, column: int, at: int
) -> None:
    printed, marked = Excerpts(text.encode()).at(1, column)
    assert "hunter2" not in printed
    assert marked == at


@pytest.mark.parametrize(
    ("text", "private"),
    [
        ("userData: |\n  a\n\n  b\nc: d\n", {1, 3}),
        ("kind: Secret\ndata:\n\n  a: b\n\n  c: d\n", {3, 5}),
        ("a: b\n", set()),
    ],
)
def test_lines_with_nothing_on_them_are_not_private(text: str, private: set[int]) -> None:
    assert Excerpts(text.encode()).private() == private
