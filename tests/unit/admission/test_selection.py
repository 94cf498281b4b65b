"""Which checks a machine gives reason to ask."""

from render.admission.checks import EACH, Check
from render.admission.selection import selection
from render.model.tree import Tree


def check(name: str, *where: str) -> Check:
    return Check(name, lambda _: (), where=where)


def test_only_what_stands_there_is_asked() -> None:
    asked = selection(
        (
            check("last", "volumes", EACH, "secret"),
            check("list", "volumes"),
            check("always"),
            check("deep", "domain", "cpu", "cores"),
            check("null", "dnsPolicy"),
            check("either", "dnsPolicy")._replace(also=(("volumes",), ("domain",))),
        )
    )
    spec: Tree = {
        "volumes": [{"name": "a"}, {"secret": {}}],
        "domain": {"cpu": {}},
        "dnsPolicy": None,
    }
    assert [one.name for one in asked(spec)] == ["last", "list", "always", "either"]
    assert [one.name for one in asked({"domain": {"cpu": {"cores": 0}}, "volumes": []})] == [
        "list",
        "always",
        "deep",
        "either",
    ]
