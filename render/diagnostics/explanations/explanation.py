"""The shape of an explanation."""

from typing import NamedTuple


class Explanation(NamedTuple):
    """What a code means, the smallest input that gives it, what is then said, and the cure.

    *example* is YAML for standard input of ``virt-render build -``, or a shell line that starts with ``$``.
    *accepted* is the same without the fault, for findings on what a cluster refuses.
    The manifests that many examples need are in `render.diagnostics.explanations.examples`.
    *message* is the message of the diagnostic, without position and object.
    """

    meaning: str
    example: str
    message: str
    cure: str
    accepted: str = ""
