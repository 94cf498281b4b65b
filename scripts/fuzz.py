"""Fuzz one of the targets of tests/fuzz with atheris, guided by coverage: ``python -m scripts.fuzz yaml 1200``.

atheris is no dependency of the project: ``make fuzz`` installs it. New inputs are kept in .fuzz/TARGET from run to run;
an input that fails is written there as crash-*, to be reduced and put into fixtures/fuzz/TARGET.
"""

import importlib
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def main() -> None:
    """The target and the seconds are the arguments."""
    atheris = importlib.import_module("atheris")
    with atheris.instrument_imports(include=["render"]):
        from tests.fuzz.targets import TARGETS

    name, seconds = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "1200"  # noqa: PLR2004
    work = os.path.join(ROOT, ".fuzz", name)
    os.makedirs(work, exist_ok=True)
    options = [f"-max_total_time={seconds}", "-max_len=4096", "-timeout=10", "-print_final_stats=1"]
    dictionary = os.path.join(ROOT, "fixtures", "fuzz.dict")
    seeds = os.path.join(ROOT, "fixtures", "fuzz", name)
    atheris.Setup(
        [sys.argv[0], *options, f"-dict={dictionary}", f"-artifact_prefix={work}/", work, seeds],
        TARGETS[name],
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main()
