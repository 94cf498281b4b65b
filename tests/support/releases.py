"""What older releases answered to the recorded cases, see fixtures/goldens/README.md."""

import gzip
import json
from functools import cache
from typing import Any

from tests.support import goldens

RELEASES = tuple(
    sorted(
        path.name.removesuffix(".ndjson.gz")
        for path in (goldens.FOLDER / "releases").glob("[0-9]*.gz")
    )
)


@cache
def _by_id(family: str) -> dict[str, dict[str, Any]]:
    return {case["id"]: case for case in goldens.cases(family)}


@cache
def cases(release: str, *, admission: bool = False) -> list[dict[str, Any]]:
    """The cases that *release* was asked, with its answers; those of the families of admission only where wanted.

    The list is shared: do not change what is in it.
    """
    found = []
    path = goldens.FOLDER / "releases" / f"{release}.ndjson.gz"
    with goldens.uncollected(), gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            answer = json.loads(line)
            if answer["family"].startswith("admission") is not admission:
                continue
            case = _by_id(answer["family"])[answer["id"]]
            # Null stands for what the newest release answered.
            want = [
                ours or newest for ours, newest in zip(answer["want"], case["want"], strict=True)
            ]
            found.append(
                {
                    **case,
                    "want": want,
                    "resources": answer["resources"] or case.get("resources", []),
                }
            )
    return found
