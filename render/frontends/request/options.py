"""The front ends' own options, one row each; those of a rendering stand in `render.settings`."""

from render.diagnostics.codes import CODES
from render.frontends.request import config
from render.report.formats import FLEET_FORMATS, FORMATS, IMPACT_FORMATS
from render.settings import OPTIONS, Option
from render.yaml.budget import DEEPEST, Limits

#: What only who runs the program decides.
HOST_OPTIONS: tuple[Option, ...] = (
    Option(
        "kustomize", "text", "auto",
        "the kustomize binary for folders with a kustomization; never: read their files as they are",
        metavar="auto|never|PATH",
    ),
    Option(
        "helm", "text", "auto", "the helm binary for charts; never: leave them alone", metavar="auto|never|PATH",
    ),
    Option(
        "jobs", "number", 0,
        "kustomizations and charts that are built at once (0: as many as there are processors for this process; 1 where"
        " a host runs virt-render)",
        metavar="N", least=0,
    ),
    Option("allow-remote", "flag", default=False, help="let kustomize fetch remote bases"),
    Option(
        "box", "choice", "auto",
        "the box around kustomize and helm: what the system lets us build of it, or an error where a wall is missing",
        choices=("auto", "require"),
    ),
    Option(
        "cluster-objects", "path", "",
        "what a cluster has room for, as kubectl get -o yaml prints it: namespaces, resourcequotas, limitranges,"
        " priorityclasses, runtimeclasses and nodes, and nothing else there; files and folders; may be repeated",
        metavar="PATH", many=True,
    ),
    Option("max-file-bytes", "number", Limits().file_bytes, "size of one file", metavar="N"),
    Option("max-total-bytes", "number", Limits().total_bytes, "size of all files", metavar="N"),
    Option("max-documents", "number", Limits().documents, "documents in one file", metavar="N"),
    Option(
        "max-depth", "number", Limits().depth, f"nesting of one document, up to {DEEPEST}",
        metavar="N", most=DEEPEST,
    ),
    Option(
        "max-alias-nodes", "number", Limits().alias_nodes,
        "values that the aliases of all objects may stand for, and ten times as many those of what is read beside them;"
        " of a text, 64 characters count as one more",
        metavar="N",
    ),
    Option(
        "max-chart-seconds", "number", Limits().chart_seconds, "seconds of a processor that helm takes for one chart",
        metavar="N",
    ),
    Option(
        "max-chart-bytes", "number", Limits().chart_bytes, "memory for data that helm may take for one chart",
        metavar="N",
    ),
    Option(
        "max-builds", "number", Limits().builds, "kustomizations and charts that one run builds", metavar="N",
    ),
    Option(
        "max-build-seconds", "number", Limits().build_seconds,
        "seconds of a processor that kustomize and helm take together in one run", metavar="N",
    ),
    Option(
        "locked", "text", "",
        "options that no Application, repository or function config may set, separated by commas: pins,deadline",
        metavar="NAME,...",
    ),
    Option(
        "settings-folders", "text", "",
        "folders, separated by colons, in which files lie that settings of an Application or a repository may name"
        " although they are not in its repository",
        metavar="DIR:...",
    ),
    Option(
        "max-deadline", "number", 600, "the most seconds that an Application may ask for", metavar="N"
    ),
)  # fmt: skip
"""Decided by who runs the program (flags, ``VIRT_RENDER_`` variables), never by what is in the repository."""

OUTPUT = Option(
    "output", "path", "",
    "write to a file; with a slash at the end, or to an existing folder, one file a resource; -: standard output",
    metavar="FILE|DIR|-", short="o",
)  # fmt: skip
FORMAT = Option("format", "choice", "text", "how findings are reported", choices=tuple(FORMATS))
CONFIG = Option(
    "config", "path", "",
    f"instead of {config.NAME} in PATH, else in the current folder, or in the nearest around these in the repository",
    metavar="FILE",
)  # fmt: skip
ROOT = Option(
    "root", "path", "", "where the objects are that files and folders refer to [default: the git root of each]",
    metavar="DIR",
)  # fmt: skip
VERBOSE = Option(
    "verbose", "flag", default=False, help="say also what was skipped and why", short="v"
)
TIMINGS = Option("timings", "flag", default=False, help="say on standard error where the time went")
REPORTS = tuple(
    Option(
        f"{name}-file", "path", "", f"write the findings also to a file, in the format {name}",
        metavar="FILE",
    )
    for name in FORMATS
    if name != "text"
)  # fmt: skip
SET = Option(
    "set", "text", "", "fill in this parameter, and print what the templates that have it make; may be repeated",
    metavar="NAME=VALUE", many=True,
)  # fmt: skip
QUIET = Option(
    "quiet",
    "flag",
    default=False,
    help="say nothing but errors, and what was kept back or not looked at",
    short="q",
)
FAIL_ON = Option(
    "fail-on", "choice", "error",
    "which findings make the exit status 1 beside errors: warnings, or those of a code; may be repeated",
    choices=("error", "warning", *CODES), metavar="error|warning|CODE", many=True,
    listing="virt-render rule --list",
)  # fmt: skip
MAX_FINDINGS = Option(
    "max-findings", "number", 0, "show so many findings, the worst (0: 10,000, and all in JSON); all of them count",
    metavar="N", least=0,
)  # fmt: skip
BASELINE = Option(
    "baseline", "path", "", "a JSON report (--json-file): the findings in it are accepted, and only counted",
    metavar="FILE",
)  # fmt: skip
CHANGED_SINCE = Option(
    "changed-since", "text", "",
    "only what is found now and was not where the branch left this commit; the rest is counted",
    metavar="GIT-REV",
)  # fmt: skip
DEADLINE = Option(
    "deadline", "number", 45, "stop after so many seconds and say what was being done", metavar="N"
)
"""Argo CD kills a plugin that is late without a word."""

MOST_SECONDS = DEADLINE._replace(
    default=0, help="stop after so many seconds, say what was being done, and print nothing"
)
"""The same where nobody waits: without a default."""

FUNCTION_SECONDS = MOST_SECONDS._replace(default=300)

EDIT_SECONDS = DEADLINE._replace(default=30, help="leave an edit unjudged after so many seconds")

UPGRADE = Option(
    "upgrade", "text", "",
    "let this VM have what its instancetype and preference hold now, NAMESPACE/ all there, a pattern those that fit it"
    " ('prod/web-*'); may be repeated",
    metavar="VM", many=True,
)  # fmt: skip
UPGRADE_ALL = Option("upgrade-all", "flag", default=False, help="the same for every VM")
SELECTOR = Option(
    "selector", "text", "", "of those only the VMs with these labels, as kubectl takes them: 'wave=1,tier!=db'",
    metavar="LABELS", short="l",
)  # fmt: skip
LIMIT = Option(
    "limit", "number", 0, "of those that would change only so many, the first by namespace and name; the next run takes"
    " the next", metavar="N",
)  # fmt: skip
PERCENT = Option(
    "percent",
    "number",
    0,
    "the same as a share of those that would change, rounded up",
    metavar="P",
    most=100,
)
PIN_CHECK = Option(
    "check", "flag", default=False, help="write nothing; fail if the lock would change"
)
DRY_RUN = Option(
    "dry-run",
    "flag",
    default=False,
    help="write nothing; show what would become of the VMs that move",
)
RESOLVE = Option(
    "resolve", "flag", default=False, help="merge the two sides of a conflict in git by VM"
)
FROM = Option(
    "from", "path", "",
    "pin VMs to what they run in a cluster: its VMs and ControllerRevisions, as kubectl prints them",
    metavar="FILE",
)  # fmt: skip
ALLOW_MATCHERS = Option(
    "allow-matchers", "flag", default=False, help="VMs that keep their matchers are meant to"
)
FIX = Option(
    "fix",
    "flag",
    default=False,
    help="make every safe fix: no VMI changes by one; what is left is reported",
)
UNSAFE_FIXES = Option(
    "unsafe-fixes",
    "flag",
    default=False,
    help="make the other fixes too, where there is no choice between several",
)
FIX_DIFF = Option(
    "diff",
    "flag",
    default=False,
    help="print what --fix, or --unsafe-fixes, would change, and write nothing",
)
DIFF = Option("diff", "flag", default=False, help="show what would change, and write nothing")
EXIT_CODE = Option(
    "exit-code",
    "flag",
    default=False,
    help="end with status 1 if a VM changes, or nobody can tell, as git diff does",
)
_EFFECTS = (
    "refused", "error", "gone", "stop", "start", "restart", "migrate", "live", "next", "recreate", "none",
)  # fmt: skip
DIFF_FAIL_ON = Option(
    "fail-on", "choice", "",
    f"end with status 1 if this, or what is worse, becomes of a VM, the worst first: {', '.join(_EFFECTS)}",
    choices=_EFFECTS, metavar="EFFECT",
)  # fmt: skip
DIFF_FORMAT = Option(
    "format", "choice", "text", "how the answer is written; markdown is for pull requests, html a page by itself",
    choices=tuple(IMPACT_FORMATS),
)  # fmt: skip
MAX_BYTES = Option(
    "max-bytes", "number", 65_536, "size of the answer in markdown: details are cut to fit, counts never",
    metavar="N",
)  # fmt: skip
WRITE = Option(
    "write", "flag", default=False,
    help="rewrite the files of VMs that stay exactly what they are, and add new definitions",
)  # fmt: skip
FACTOR_DRY_RUN = DRY_RUN._replace(help="as --write, with all proof, but write nothing")
FACTOR_DIFF = DIFF._replace(help="show what --write would change as a patch, and write nothing")
MAX_NEW = Option(
    "max-new", "number", 10, "definitions that may be added: those that most VMs share (0: none)",
    metavar="N", least=0,
)  # fmt: skip
ONLY = Option("only", "text", "", "look at this VM; may be repeated", metavar="VM", many=True)
NEAR = Option(
    "near", "flag", default=False,
    help="say also which definitions nearly fit where none do, and what would change with them; never written",
)  # fmt: skip
RESTART = Option(
    "restart", "flag", default=False,
    help="count VMs as the same whose guest is, though KubeVirt asks for a restart if they run: a part of their CPU"
    " topology that they leave open is written out",
)  # fmt: skip
FACTOR_FORMAT = Option(
    "format", "choice", "text", "how the answer is written", choices=("text", "json")
)
MIGRATE_CHECK = Option(
    "check", "flag", default=False, help="write nothing; fail if there is something to do"
)
REVISION = Option("revision", "number", 0, "as it was at this edit revision", metavar="N")
AT = Option("at", "text", "", "as it was at this commit", metavar="GIT-REV")
FILES = Option("files", "flag", default=False, help="print the files instead, one a line")
FORCE = Option("force", "flag", default=False, help="replace files that differ")
RULE_FORMAT = Option(
    "format", "choice", "text", "how the explanation is printed", choices=("text", "json")
)
LIST = Option("list", "flag", default=False, help="list all codes")
RELEASE = next(option for option in OPTIONS if option.name == "kubevirt")
RELEASES = RELEASE._replace(
    default="",
    help=f"{RELEASE.help}; given several times, each finding names the releases that it holds for",
    many=True,
)
RELEASE_RANGE = RELEASE._replace(
    kind="text", default="", metavar="A[..B]",
    help=f"{RELEASE.help}; A..B: one before, the other after",
)  # fmt: skip
CLUSTER_CONFIG_RANGE = next(
    option for option in OPTIONS if option.name == "cluster-config"
)._replace(
    metavar="FILE[..FILE]",
    help="a KubeVirt custom resource, used where the input has none; A..B: one before, the other after",
)
LINK_TEMPLATE = Option(
    "link-template", "text", "",
    "the address of a line for pages to link to, with {commit}, {file} and {line} in it: https://git.example.com/...",
    metavar="URL",
)  # fmt: skip
FLEET_FORMAT = Option(
    "format",
    "choice",
    "html",
    "a page, or its VMs as data; memory is in bytes",
    choices=tuple(FLEET_FORMATS),
)
PAGE = Option(
    "output", "path", "", "write to a file; -: standard output", metavar="FILE|-", short="o"
)  # fmt: skip
HISTORY_FORMAT = Option(
    "format", "choice", "text", "how the answer is written; html is a page with a timeline",
    choices=("text", "json", "html"),
)  # fmt: skip
SINCE = Option(
    "since", "text", "", "only revisions since a day (2026-01-31), or since this commit",
    metavar="DAY|GIT-REV",
)  # fmt: skip
USERS_FORMAT = RULE_FORMAT._replace(help="how the answer is written")
EXPLAIN = Option(
    "explain", "flag", default=False,
    help="with --emit vmi: say in a comment behind each field who decided it, and who wanted it otherwise",
)  # fmt: skip
EXPLAIN_FORMAT = RULE_FORMAT._replace(help="how the answer is written")
