"""Machine type, subdomain, grace period, architecture and launch security.

Upstream: pkg/instancetype/preference/apply/machine.go, subdomain.go, termination.go,
architecture.go, launchsecurity.go. Three tables, since upstream applies other concerns in between: `RULES` of the
package has the order.
"""

from collections.abc import Iterable

from render.model.draft import Draft
from render.model.release import since
from render.model.tree import Tree
from render.rules import Edit, Result, Rules, custom, fill, spec


def _subdomain(definition: Tree, draft: Draft) -> Iterable[Result]:
    subdomain = definition.get("preferredSubdomain")
    if subdomain and draft.get("spec", "subdomain") is None:
        yield Edit(spec("subdomain"), subdomain, ("preferredSubdomain",))


def _machine_type(definition: Tree, draft: Draft) -> Iterable[Result]:
    preferred = (definition.get("machine") or {}).get("preferredMachineType")
    # `machine: {}` always prints an empty type, so "" is what an unset type looks like.
    if preferred and not draft.get("spec", "domain", "machine", "type"):
        yield Edit(
            spec("domain", "machine", "type"), preferred, ("machine", "preferredMachineType")
        )


def _architecture(definition: Tree, draft: Draft) -> Iterable[Result]:
    architecture = definition.get("preferredArchitecture")
    if architecture and draft.get("spec", "architecture") is None:
        yield Edit(spec("architecture"), architecture, ("preferredArchitecture",))


MACHINE: Rules = (
    custom(_machine_type, reads=("machine.preferredMachineType",), writes=("domain.machine.type",)),
)
RULES: Rules = (
    custom(_subdomain, reads=("preferredSubdomain",), writes=("subdomain",)),
    fill("preferredTerminationGracePeriodSeconds", "terminationGracePeriodSeconds"),
    since("1.7", custom(_architecture, reads=("preferredArchitecture",), writes=("architecture",))),
)
LAUNCH_SECURITY: Rules = (since("1.9", fill("preferredLaunchSecurity", "domain.launchSecurity")),)
