import pytest

from render.diagnostics import codes
from render.diagnostics.codes import Code, status
from render.diagnostics.diagnostic import Location, Severity
from render.diagnostics.exits import Exit


@pytest.mark.parametrize(
    ("found", "exit_"),
    [
        ([], Exit.OK),
        ([codes.DEPRECATED_FIELD, codes.BUNDLED_USED], Exit.OK),
        ([codes.INSTANCETYPE_CONFLICT], Exit.FINDINGS),
        ([codes.YAML_SYNTAX, codes.UNREADABLE], Exit.UNREADABLE),
        ([codes.UNREADABLE, codes.KUSTOMIZE_MISSING], Exit.USAGE),
        ([codes.INVALID_SETTING, codes.DEADLINE], Exit.DEADLINE),
        ([codes.DEADLINE, codes.INTERNAL], Exit.INTERNAL),
    ],
)
def test_the_error_that_says_least_of_the_input_decides(found: list[Code], exit_: Exit) -> None:
    diagnostics = [code.at(Location(), "odd") for code in found]
    assert status(diagnostics) is exit_
    assert status(reversed(diagnostics)) is exit_


def test_every_status_of_a_code_has_its_rank() -> None:
    ranked = {status([code.at(Location(), "odd")]) for code in codes.CODES.values()}
    assert ranked >= {code.exit for code in codes.CODES.values() if code.severity is Severity.ERROR}
