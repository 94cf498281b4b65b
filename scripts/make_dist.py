"""What a release is: ``python -m scripts.make_dist FOLDER [TAG]``, or ``make dist``.

The wheel, the sdist, an SBOM (CycloneDX) of what the image and the actions install with it, and the SHA-256 of each. Of
one commit they are the same bytes wherever they are made. *TAG* has to be the version.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import render

ROOT = Path(__file__).resolve().parents[1]
SBOM = ROOT / ".tools" / "sbom" / "bin" / "cyclonedx-py"
SUMS = "SHA256SUMS"


def make(folder: Path, tag: str = "") -> None:
    """Write everything to *folder*, an empty one or none yet."""
    version = render.__version__
    if tag not in ("", f"v{version}"):
        sys.exit(f"the tag is {tag}, and the version {version}: change the one or the other")
    if folder.exists() and any(folder.iterdir()):
        sys.exit(f"{folder} is not empty: make clean")
    folder.mkdir(parents=True, exist_ok=True)
    environ = {**os.environ, "SOURCE_DATE_EPOCH": _time_of_commit()}
    build = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder.resolve())]
    subprocess.run(build, cwd=ROOT, env=environ, check=True)
    bom = folder.resolve() / f"{render.__project__}-{version}.cdx.json"
    subprocess.run(
        [
            SBOM, "requirements", "requirements/runtime.txt", "--pyproject", "pyproject.toml",
            "--mc-type", "application", "--output-reproducible", "--spec-version", "1.6",
            "--output-format", "JSON", "--output-file", bom,
        ],
        cwd=ROOT, env={**environ, "PYTHONWARNINGS": "ignore"}, check=True,
    )  # fmt: skip
    files = sorted(path for path in folder.iterdir() if path.name != ".gitignore")
    sums = (f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
    (folder / SUMS).write_text("".join(sums), encoding="utf-8")


def _time_of_commit() -> str:
    """When the commit was made, in seconds; of a tree without git nothing more can be said than nought."""
    command = ["git", "log", "-1", "--format=%ct"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    return done.stdout.strip() or "0"


if __name__ == "__main__":
    make(Path(sys.argv[1]), *sys.argv[2:])
