"""A part of a run's input: what is rendered, judged and compared by itself."""

from render.diagnostics.diagnostic import Diagnostic
from render.frontends.request.request import Request
from render.manifests.documents import Documents
from render.model.resource import Resource, from_body


class FleetPart:
    """What was read of one root, and how it is rendered.

    *request* is that of the run with what the VMs find in other parts. *diagnostics* are those of reading, and of
    rendering once that *is_rendered*; whoever finds more adds it.
    """

    __slots__ = ("diagnostics", "is_rendered", "loaded", "request")

    def __init__(self, loaded: Documents, request: Request) -> None:
        self.loaded = loaded
        self.request = request
        self.diagnostics: list[Diagnostic] = loaded.diagnostics
        self.is_rendered = False

    @property
    def resources(self) -> list[Resource]:
        """The documents as objects."""
        return [from_body(d.body, i, d.origin) for i, d in enumerate(self.loaded.documents)]
