"""Compile the templates of pages ahead: a process that writes one page would spend a tenth of its time on that."""

import json
from pathlib import Path

from render.report import page

FOLDER = Path(page.__file__).parent
TARGET = FOLDER / "pages.json"


def text() -> str:
    """What stands in `pages.json`: each template's code as lines, which a diff can show."""
    names = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.j2"))
    return json.dumps(page.compiled(names), indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    """Write it."""
    TARGET.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
