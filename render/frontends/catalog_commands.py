"""``virt-render catalog``: the instancetypes and preferences that KubeVirt deploys by itself."""

import click

from render.frontends.exits import Exit
from render.model import tree
from render.model.tree import Tree

_RELEASE = click.option(
    "--kubevirt", "release", default="v1.9.0", metavar="RELEASE", help="of which KubeVirt release"
)


@click.group()
def catalog() -> None:
    """The instancetypes and preferences of KubeVirt itself."""


@catalog.command("list")
@_RELEASE
def list_(release: str) -> Exit:
    """List what KubeVirt deploys: kind, name, and the vCPUs and memory given or required."""
    rows = [
        (kind, name, _amount(spec, "cpu"), _amount(spec, "memory"))
        for (kind, name), spec in _definitions(release).items()
    ]
    titles = ("KIND", "NAME", "CPU", "MEMORY")
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    for row in (titles, *rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo("  ".join(cells).rstrip())
    return Exit.OK


@catalog.command()
@click.argument("name")
@_RELEASE
def show(name: str, release: str) -> Exit:
    """Print the manifest of NAME."""
    from render.manifests import writer
    from render.resolve import bundled

    known = _definitions(release)
    found = [kind for kind, other in known if other == name]
    if not found:
        from render.model.nearest import nearest

        near = nearest(name, (other for _, other in known))
        hint = f"; did you mean {near}?" if near else ""
        raise click.UsageError(f"no {name} among what KubeVirt {release} deploys{hint}")
    click.echo(writer.write(bundled.body(release, kind, name) for kind in found), nl=False)
    return Exit.OK


def _definitions(release: str) -> dict[tuple[str, str], Tree]:
    from render.resolve import bundled

    if release not in bundled.RELEASES:
        raise click.UsageError(
            f"no catalogue of KubeVirt {release}; there is {', '.join(bundled.RELEASES)}"
        )
    return bundled.definitions(release)


def _amount(spec: Tree, what: str) -> str:
    """What an instancetype gives, or a preference requires at least."""
    given = tree.get(spec, what, "guest")
    required = tree.get(spec, "requirements", what, "guest")
    if given is None and required is None:
        return "-"
    return str(given) if given is not None else f">={required}"
