"""What is offered where somebody wrote no quantity: what was meant, most likely, and nothing that no field takes."""

import pytest

from render.model.fieldpath import FieldPath
from render.schemas import amounts

MEMORY: FieldPath = ("spec", "domain", "memory", "guest")
CPU: FieldPath = ("spec", "domain", "resources", "requests", "cpu")
OTHER: FieldPath = ("spec", "migrations", "bandwidthPerMigration")


@pytest.mark.parametrize(
    ("written", "help_", "safe"),
    [
        ("2 Gi", "write 2Gi", [True]),
        ("1.5 Gi", "write 1.5Gi", [True]),
        ("2gi", "write 2Gi", [True]),
        ("2048MiB", "write 2048Mi", [True]),
        ("2 G i", "write 2Gi", [True]),
        ("2048 ", "write 2048", [True]),
        ("2gb", "write 2Gi or 2G", [False, False]),
        ("2G B", "write 2Gi or 2G", [False, False]),
        ("2Go", "write 2Gi or 2G", [False, False]),
        ("4096mb", "write 4096Mi or 4096M", [False, False]),
        ("2 m", "write 2Mi or 2M", [False, False]),
        ("2Gu", "write 2Gi or 2G", [False, False]),
        ("16 gigabytes", "write 16Gi or 16G", [False, False]),
        ("16 gibibytes", "write 16Gi", [False]),
        ("2,5Gi", "write 2.5Gi", [False]),
        ("1,024Mi", "write 1024Mi", [False]),
        ("1_024Mi", "write 1024Mi", [False]),
        ("Gi2", "write 2Gi", [False]),
        ("2Gi'", "write 2Gi", [False]),
        ("2Gii", "write 2Gi", [False]),
        (2.5, "the unit is missing, most likely: 2.5Gi", [False, False]),
        ("two", "write it like 2Gi or 500M", []),
        ("", "write it like 2Gi or 500M", []),
        ("16 GB of RAM", "write it like 2Gi or 500M", []),
        ("9" * 2000, "write it like 2Gi or 500M", []),
    ],
)
def test_memory(written: str | float, help_: str, safe: list[bool]) -> None:
    cure, fixes = amounts.meant(written, MEMORY)
    assert (cure, [fix.safe for fix in fixes]) == (help_, safe)


@pytest.mark.parametrize(
    ("written", "help_", "safe"),
    [
        ("500 m", "write 500m", [True]),
        (" 2", "write 2", [True]),
        (1.5, 'write "1.5", in quotes', [True]),
        ("2 cores", 'write it like 2, 500m or "1.5"', []),
        ("2Gb", 'write it like 2, 500m or "1.5"', []),
    ],
)
def test_cpu(written: str | float, help_: str, safe: list[bool]) -> None:
    cure, fixes = amounts.meant(written, CPU)
    assert (cure, [fix.safe for fix in fixes]) == (help_, safe)


def test_fields_that_may_hold_anything() -> None:
    assert amounts.meant("fast", OTHER) == ("write it like 2Gi, 1500m or 500M", ())


def test_a_number_that_python_does_not_print() -> None:
    assert amounts.meant(10**5000, MEMORY) == ("write it like 2Gi or 500M", ())
