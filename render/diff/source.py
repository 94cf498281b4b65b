"""Where a change was written."""

from render.model import fieldpath
from render.model.fieldpath import FieldPath
from render.model.hints import Literal
from render.model.named_tuple import NamedTuple
from render.model.resource import ResourceRef

SideName = Literal["before", "after"]


class ChangeSource(NamedTuple):
    """The field of an object that brought a change; *index* is the object's position in the input of *side*.

    Of a pin, *definition* is the object whose content it names, where that is in the input.
    """

    resource: ResourceRef
    path: FieldPath
    index: int | None  # type: ignore[assignment] # nobody searches it as a tuple
    side: SideName
    definition: "ChangeSource | None" = None

    @property
    def field(self) -> str:
        """The path as text."""
        return fieldpath.text(self.path)
