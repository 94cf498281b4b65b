"""Tell what virt-render is for, in the shop of fixtures/demo: a conflict, its fix, the review of the change, the pages.

Usage: python -m scripts.demo [FOLDER]

The shop becomes a git repository below FOLDER (.demo), beside what is written: the manifests and two pages.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
DATABASE = Path("web/database.yaml")
SIZES = Path("platform/instancetypes.yaml")
REVIEW = ("diff", "--emit", "vm", "HEAD")
AUTHOR = {f"GIT_{role}_{key}": text for role in ("AUTHOR", "COMMITTER") for key, text in (
    ("NAME", "Shop"), ("EMAIL", "shop@example.com"), ("DATE", "2026-01-01T00:00:00Z"))}  # fmt: skip


def edit(file: Path, old: str, new: str) -> None:
    """Write *new* in the place of *old*, which stands in *file* once."""
    text = file.read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise SystemExit(f"demo: {file} is not as it was")
    file.write_text(text.replace(old, new), encoding="utf-8")


def run(shop: Path, *words: str, status: int = 0) -> str:
    """What virt-render prints with *words* in *shop*; it has to end with *status*."""
    done = subprocess.run(
        [sys.executable, "-m", "render", *words],
        cwd=shop,
        env={**os.environ, "PYTHONPATH": str(TOP)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    if done.returncode != status:
        raise SystemExit(f"demo: {words} ended with {done.returncode}, not {status}: {done.stdout}")
    return done.stdout


def git(shop: Path, *words: str) -> None:
    """Run git in *shop* without a word."""
    command = ["git", "-C", str(shop), *words]
    subprocess.run(command, env={**os.environ, **AUTHOR}, stdout=subprocess.DEVNULL, check=True)


def open_shop(folder: Path) -> Path:
    """The shop as a git repository with one commit, below *folder*."""
    shutil.rmtree(folder, ignore_errors=True)
    shop = folder / "shop"
    shutil.copytree(TOP / "fixtures" / "demo", shop)
    git(shop, "init", "--quiet", "--initial-branch=main")
    git(shop, "add", ".")
    git(shop, "commit", "--quiet", "--message=The shop")
    return shop


def write_conflict(shop: Path) -> None:
    """Write a size into the VM, beside that of its instancetype."""
    edit(shop / DATABASE, "      domain:\n", "      domain:\n        memory: {guest: 64Gi}\n")


def fix_conflict(shop: Path) -> None:
    """Take it back, and write it into the instancetype."""
    git(shop, "checkout", "--quiet", "--", str(DATABASE))
    edit(shop / SIZES, "    guest: 32Gi\n", "    guest: 64Gi\n")
    edit(shop / SIZES, "    maxGuest: 64Gi\n", "    maxGuest: 128Gi\n")


def main(folder: Path) -> None:
    """Tell the story, in *folder*."""
    shop = open_shop(folder)

    def tell(text: str, *commands: tuple[str, ...], status: int = 0) -> None:
        print(f"\n# {text}")
        for words in commands:
            print(f"$ virt-render {' '.join(words)}")
            print(run(shop, *words, status=status), end="", flush=True)

    write_conflict(shop)
    text = f"The database needs more memory: somebody writes it into the VM, {DATABASE}."
    tell(text, ("check", "--quiet", "."), status=1)
    fix_conflict(shop)
    text = f"The size is the instancetype's to say: taken back, and written into {SIZES}."
    tell(text, ("check", "--quiet", "."))
    tell("No VM was edited. What does the change do to those that run?", REVIEW)
    tell(
        "The review as a page, the whole fleet as another, and what is synced:",
        (*REVIEW, "--format", "html", "-o", "../review.html"),
        ("report", "-o", "../fleet.html", "."),
        ("build", "--quiet", "-o", "../manifests.yaml", "."),
    )
    for name in ("review.html", "fleet.html", "manifests.yaml"):
        print(folder / name)


if __name__ == "__main__":
    main(Path(sys.argv[1] if sys.argv[1:] else ".demo").resolve())
