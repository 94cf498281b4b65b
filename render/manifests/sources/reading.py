"""How input is read."""

from render.manifests.buffers import NO_BUFFERS, Buffers
from render.manifests.discover import HelmRelease
from render.manifests.relevance import Scope
from render.model.hints import TYPE_CHECKING, BinaryIO
from render.model.named_tuple import NamedTuple
from render.yaml.budget import Limits
from render.yaml.reader import Read

if TYPE_CHECKING:
    from render.manifests.sources.outcomes import KnownOutcomes

GIT = "git"
BUILDERS = frozenset({"helm", "kustomize"})
PROGRAMS = frozenset({GIT, *BUILDERS})
"""What is started to read a repository."""


class Reading(NamedTuple):
    """How input is read.

    *stdin* is what ``-`` means; *kustomize*: ``auto`` finds it on the PATH, ``never`` reads the plain files, anything
    else names the binary; *allow_remote*: whether it may use the network; *is_box_required*: whether
    either is started where a wall of the box around it is missing; *scope*: what of a repository counts, None
    for all that is there; *helm* is the same for charts, *chart* what they are installed as; *lock*: the revision lock
    that is used for all of it, if one is. *known*: where another input has many of the same texts, what those in which
    nothing is wrong hold, within which limits; each file adds its own. *jobs*: how many builds run at once, 0 for as
    many as there are processors for us. *buffers* win over the disk. *programs*: what may be started; what the others
    would make is passed over. *outcomes*: what was printed for other states of the repository that the run reads.
    """

    limits: Limits
    stdin: BinaryIO | None = None
    kustomize: str = "auto"
    allow_remote: bool = False
    is_box_required: bool = False
    before: int = 0
    scope: Scope | None = None
    helm: str = "never"
    chart: HelmRelease = HelmRelease()
    lock: str = ""
    known: dict[tuple[bytes, Limits], Read] | None = None
    jobs: int = 1
    buffers: Buffers = NO_BUFFERS
    programs: frozenset[str] = PROGRAMS
    outcomes: "KnownOutcomes | None" = None
