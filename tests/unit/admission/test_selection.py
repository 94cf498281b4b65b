"""Which checks a machine gives reason to ask."""

from render.admission.checks import EACH, Check
from render.admission.selection import selection
from render.model.tree import Tree


def check(name: str, *where: str) -> Check:
    return Check(name, lambda _: (), where=where)


def test_only_what_stands_there_is_asked() -> None:
    requested = selection(
        (
            check("last", "volumes", EACH, "secret"),
            check("list", "volumes"),
            check("always"),
            check("deep", "domain", "cpu", "cores"),
            check("null", "dnsPolicy"),
            check("either", "dnsPolicy")._replace(also=(("volumes",), ("domain",))),
        ),
        tuple,
    )
    spec: Tree = {
        "volumes": [{"name": "a"}, {"secret": {}}],
        "domain": {"cpu": {}},
        "dnsPolicy": None,
    }
    assert [resource.name for resource in requested(spec)] == ["last", "list", "always", "either"]
    assert [
        resource.name for resource in requested({"domain": {"cpu": {"cores": 0}}, "volumes": []})
    ] == [
        "list",
        "always",
        "deep",
        "either",
    ]
