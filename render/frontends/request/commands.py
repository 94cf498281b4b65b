"""The commands, one row each: what the command line, its help, completion and the documentation are made from."""

from collections.abc import Mapping

from render.frontends.request.options import (
    ALLOW_MATCHERS,
    AT,
    BASELINE,
    CHANGED_SINCE,
    CLUSTER_CONFIG_RANGE,
    CONFIG,
    DEADLINE,
    DIFF,
    DIFF_FAIL_ON,
    DIFF_FORMAT,
    DRY_RUN,
    EDIT_SECONDS,
    EXIT_CODE,
    EXPLAIN,
    EXPLAIN_FORMAT,
    FACTOR_DIFF,
    FACTOR_DRY_RUN,
    FACTOR_FORMAT,
    FAIL_ON,
    FILES,
    FIX,
    FIX_DIFF,
    FLEET_FORMAT,
    FORCE,
    FORMAT,
    FROM,
    FUNCTION_SECONDS,
    HISTORY_FORMAT,
    HOST_OPTIONS,
    LIMIT,
    LINK_TEMPLATE,
    LIST,
    MAX_BYTES,
    MAX_FINDINGS,
    MAX_NEW,
    MIGRATE_CHECK,
    MOST_SECONDS,
    NEAR,
    ONLY,
    OUTPUT,
    PAGE,
    PERCENT,
    PIN_CHECK,
    QUIET,
    RELEASE,
    RELEASE_RANGE,
    RELEASES,
    REPORTS,
    RESOLVE,
    RESTART,
    REVISION,
    ROOT,
    RULE_FORMAT,
    SELECTOR,
    SET,
    SINCE,
    TIMINGS,
    UNSAFE_FIXES,
    UPGRADE,
    UPGRADE_ALL,
    USERS_FORMAT,
    VERBOSE,
    WRITE,
)  # fmt: skip
from render.model.named_tuple import NamedTuple
from render.settings import OPTIONS, Option
from render.system.streams import STDERR, STDOUT

_BY_OTHERS = frozenset({"emit", "stored", "defaults", "pins", "firmware-uuid", "annotations"})
_PINNING = tuple(option for option in OPTIONS if option.name not in _BY_OTHERS)
_MIGRATING = tuple(
    option for option in OPTIONS if option.name in ("catalog", "namespace", "kubevirt", "cluster-config")
)  # fmt: skip
_CHECKING = tuple(RELEASES if option is RELEASE else option for option in OPTIONS)
_OF_OUTPUT = frozenset({"emit", "stored", "defaults", "annotations", "firmware-uuid"})
#: Of commands that only look: how it would be printed does not matter to what they, or an editor, show.
_REPORTED = tuple(option for option in OPTIONS if option.name not in _OF_OUTPUT)
#: Of commands that only look at a repository: others are asked for what a guest boots with, or say nothing of it.
_LOOKING = (("guest", "warning"),)
#: Of those that may well be asked about a folder in which there is nothing of KubeVirt's.
_ANYWHERE = (*_LOOKING, ("allow-empty", True))
_RANGES = {option.name: option for option in (RELEASE_RANGE, CLUSTER_CONFIG_RANGE)}
_COMPARING = tuple(_RANGES.get(option.name, option) for option in OPTIONS)
_REPORTING = (FORMAT, *REPORTS, MAX_FINDINGS, QUIET, FAIL_ON)
_COMMON = (MOST_SECONDS, CONFIG, TIMINGS, VERBOSE)


#: So many options help lists at most, but for ``--help-all``.
_MANY = 12
#: Those that most people need, the most needed first.
_USUAL = (
    "emit", "kubevirt", "cluster-config", "admission", "format", "fail-on", "baseline", "changed-since", "output",
    "quiet", "verbose",
)  # fmt: skip


class Argument(NamedTuple):
    """A word on the command line. *many*: any number of them; *default*: what is meant where it is left out."""

    name: str
    metavar: str
    many: bool = False
    required: bool = False
    default: str = ""


#: What divides revisions from paths, as git has it.
DASHES = "--"


class Command(NamedTuple):
    """A command and everything that is said of it.

    *function* is ``MODULE:NAME`` below `render.frontends`. It gets a `Request` and the `Work` being done, and
    returns an `Answer`; where *hosted*, a host's protocol decides how anything is said, and it gets the call and
    the environment, and returns an `Exit`. *summary* is its help, the first line of which stands alone in lists.
    *report* is the stream on which findings are reported. Of the options of a pair in *excludes* only one may be
    given. *by_machine*: machines start it, so that it is understood without click. *whole*: it looks at a
    repository, whose root says how that is laid out. *dashed*: its words may be divided by `DASHES`, which is one
    of its paths then. *defaults*: what nobody asks for otherwise, of the options of a rendering that have another
    default here; *assumed*: in words, of those that the repository has a say in. *of_commits*: it may read another
    commit than the one that is checked out, with files that the working tree has not.
    """

    name: str
    function: str
    summary: str
    arguments: tuple[Argument, ...]
    options: tuple[Option, ...]
    report: int = STDERR
    excludes: tuple[tuple[Option, Option], ...] = ()
    by_machine: bool = False
    hosted: bool = False
    whole: bool = False
    dashed: bool = False
    defaults: tuple[tuple[str, str | bool], ...] = ()
    assumed: tuple[tuple[str, str], ...] = ()
    of_commits: bool = False

    def default(self, option: Option) -> object:
        """What *option* is here where nobody asks for anything, or in words how that is found out."""
        return {**dict(self.defaults), **dict(self.assumed)}.get(option.name, option.default)

    @property
    def usual(self) -> tuple[Option, ...]:
        """The options that help lists first: of a command with many, its own and those that most people need."""
        if len(self.options) <= _MANY:
            return self.options
        special = {option.name for _, options in SECTIONS for option in options}
        own = [
            option
            for option in self.options
            if option.name not in special and option not in _COMMON
        ]
        known = {option.name: option for option in self.options}
        common = [known[name] for name in _USUAL if name in known and known[name] not in own]
        return (*own, *common)[: max(_MANY, len(own))]


class Call(NamedTuple):
    """A command with its paths, its other arguments, and the value of each flag that was given, as the table spells it.

    A flag that may be repeated has a tuple of values.
    """

    command: str
    paths: tuple[str, ...]
    flags: Mapping[str, str | bool | tuple[str, ...]]
    arguments: tuple[tuple[str, str], ...] = ()


class CommandGroup(NamedTuple):
    """Commands of two words share the first."""

    name: str
    summary: str


_PATHS = Argument("paths", "[PATH...|-]", many=True)
_PATH = Argument("path", "[PATH]", default=".")
_VM = Argument("vm", "VM", required=True)

GROUPS: tuple[CommandGroup, ...] = (
    CommandGroup("argocd", "Work as a config-management plugin of Argo CD; see docs/argocd.md."),
    CommandGroup("catalog", "The instancetypes and preferences of KubeVirt itself."),
    CommandGroup("kustomize", "Help for repositories that use kustomize; see docs/kustomize.md."),
)

_ROWS: tuple[Command, ...] = (
    Command(
        "build",
        "commands.build:build",
        """Print resources with every VirtualMachine rendered, or say why not.

        PATH is a folder (built with kustomize if it holds a kustomization), a file, or - for standard input; without
        one the current folder. Findings go to standard error; with an error among them nothing is printed.
        """,
        (_PATHS,),
        (OUTPUT, SET, EXPLAIN, *OPTIONS, *HOST_OPTIONS, *_REPORTING, *_COMMON),
        by_machine=True,
    ),
    Command(
        "check",
        "commands.check:check",
        """Say what is wrong in PATH, and print no manifests.

        Each kustomization below PATH is checked by itself. Single files are checked together with what they refer to
        elsewhere in the repository. With --fix files are rewritten where a finding has one way out, comments and order
        kept; the exit status is that of what remains.
        """,
        (_PATHS,),
        (FIX, UNSAFE_FIXES, FIX_DIFF, *_CHECKING, *HOST_OPTIONS, *_REPORTING, BASELINE, CHANGED_SINCE, ROOT, *_COMMON),
        report=STDOUT,
        by_machine=True,
        whole=True,
        defaults=_ANYWHERE,
    ),
    Command(
        "krm",
        "kustomize.function:answer",
        """Render as a function of kustomize: a ResourceList on standard input, another one on standard output.

        Also the bare command virt-render-krm. As a legacy exec plugin the program finds out by itself. The function
        config is a RenderConfig; see docs/kustomize.md.
        """,
        (_PATHS,),
        (*OPTIONS, FUNCTION_SECONDS, *HOST_OPTIONS, CONFIG, VERBOSE),
        by_machine=True,
        hosted=True,
    ),
    Command(
        "argocd generate",
        "argocd.generate:generate",
        """Print the manifests of the application in the current folder: what a config-management plugin runs.

        As build does, with the parameters and variables of the Application, a deadline, and a report that fits into
        the error of an Application.
        """,
        (_PATHS,),
        (*OPTIONS, DEADLINE, *HOST_OPTIONS, CONFIG, VERBOSE),
        by_machine=True,
        hosted=True,
    ),
    Command(
        "argocd parameters",
        "argocd.commands:parameters",
        "Print the parameters that an Application can set, as Argo CD's user interface wants them.",
        (),
        (),
    ),
    Command(
        "argocd discover",
        "argocd.commands:name_first",
        "Name a file that makes the current folder ours, or print nothing; never fails.",
        (),
        (),
    ),
    Command(
        "argocd inputs",
        "argocd.commands:inputs",
        """Print what the rendering of PATH reads, as the annotation that limits refreshes to it.

        Without that annotation every commit to the repository renders every application again.
        """,
        (_PATH,),
        (FILES, *OPTIONS, DEADLINE, *HOST_OPTIONS, CONFIG, VERBOSE),
    ),
    Command(
        "argocd ignore-differences",
        "argocd.commands:print_ignore_differences",
        """Print the ignoreDifferences of an Application that syncs VMs as they are written (--emit source).

        Rendered VMs need none. A VM that infers its instancetype or preference from a volume gets an entry of its own,
        since the cluster replaces its matchers.
        """,
        (_PATH,),
        (*OPTIONS, DEADLINE, *HOST_OPTIONS, CONFIG, VERBOSE),
        whole=True,
    ),
    Command(
        "catalog list",
        "commands.catalog:print_list",
        "List what KubeVirt deploys: kind, name, and the vCPUs and memory given or required.",
        (),
        (RELEASE,),
    ),
    Command(
        "catalog show",
        "commands.catalog:show",
        "Print the manifest of NAME.",
        (Argument("name", "NAME", required=True),),
        (RELEASE,),
    ),
    Command(
        "kustomize init",
        "kustomize.init:init",
        """Write a schema with merge keys and a configuration of names into FOLDER.

        With them patches of VMs keep the disks, volumes, interfaces and networks that they do not name, and namePrefix
        renames what VMs refer to. The lines for the kustomization in FOLDER are printed.
        """,
        (Argument("path", "[FOLDER]", default="."),),
        (FORCE,),
    ),
    Command(
        "test",
        "commands.expectations.run:test",
        """Hold the VMs to what is expected of them in the *.virt-test.yaml files of PATH; see docs/testing.md.

        Expected are fields of a VM, of the VMI that KubeVirt starts of it and of its pod, findings, and what a change
        may do to it. Options win over the settings in these files. As JUnit each expectation is a test case.
        """,
        (_PATHS,),
        (*_REPORTED, *HOST_OPTIONS, *_REPORTING, *_COMMON),
        report=STDOUT,
        whole=True,
        defaults=_LOOKING,
    ),
    Command(
        "pin",
        "commands.pin:pin",
        """Write the revision lock of PATH: each VM keeps what its instancetype and preference hold now.

        The lock lies beside what is built: of a PATH with several kustomizations each gets its own. VMs that are pinned
        stay as they are, whatever becomes of the objects, until they are upgraded. A table of what moved goes to
        standard output. A kustomization, or the loose files together, with an error keeps the lock that it has, and is
        named; the others get theirs. --baseline goes on without the VMs whose errors it has.
        """,
        (_PATHS,),
        (
            UPGRADE, UPGRADE_ALL, SELECTOR, LIMIT, PERCENT, DRY_RUN, PIN_CHECK, RESOLVE, FROM, BASELINE,
            *_PINNING, *HOST_OPTIONS, *_REPORTING, *_COMMON,
        ),
        excludes=(
            (PIN_CHECK, RESOLVE), (UPGRADE, UPGRADE_ALL), (PIN_CHECK, DRY_RUN), (RESOLVE, DRY_RUN), (LIMIT, PERCENT),
        ),
        whole=True,
    ),
    Command(
        "verify",
        "commands.verify:verify",
        """Fail on a VM in rendered manifests that was not rendered, or edited since.

        It has a matcher, or its spec does not fit the hash that it was stamped with.
        """,
        (_PATHS,),
        (ALLOW_MATCHERS, *HOST_OPTIONS, *_REPORTING, *_COMMON),
        report=STDOUT,
        whole=True,
    ),
    Command(
        "migrate",
        "migration.command:migrate",
        """Rewrite the files below PATH: older API versions and deprecated fields give way to their successors.

        Comments and order are kept. What each VM becomes is compared before and after, and no change is made by which
        one would differ.
        """,
        (Argument("paths", "[PATH...]", many=True),),
        (DIFF, MIGRATE_CHECK, *_MIGRATING, *HOST_OPTIONS, *_REPORTING, *_COMMON),
        whole=True,
    ),
    Command(
        "factor",
        "factor.command:factor",
        """Find for each VM in PATH the instancetype and the preference that give exactly the VMI that it has.

        Those of the repository and of KubeVirt's catalogue come before new ones, which VMs share. With --write what
        they bring leaves the manifests, comments stay, and new definitions are added: only where KubeVirt does nothing
        about it but name the definitions at the next start. Files that several kustomizations use stay as they are.
        """,
        (_PATHS,),
        (
            WRITE, FACTOR_DRY_RUN, FACTOR_DIFF, MAX_NEW, ONLY, NEAR, RESTART, FACTOR_FORMAT,
            *_MIGRATING, *HOST_OPTIONS, *_COMMON,
        ),
        excludes=((WRITE, FACTOR_DRY_RUN), (WRITE, FACTOR_DIFF)),
        whole=True,
    ),
    Command(
        "diff",
        "commands.diff:diff",
        """Say what a change of the repository does to each VM that runs: refused, restarted, migrated, or nothing.

        BASE..HEAD are two revisions of git, BASE alone one and the working tree, BASE...HEAD what HEAD changed since it
        left BASE; without any, the working tree is compared with where it branched off. Two folders are compared as
        they are. With --kubevirt A..B or --cluster-config A..B alone nothing changes but the cluster. VMs count as
        synced as they are written, if neither --emit nor a configuration file says how they are rendered.
        """,
        (Argument("paths", "[BASE[..HEAD]] [--] [PATH]", many=True),),
        (DIFF_FORMAT, MAX_BYTES, EXIT_CODE, DIFF_FAIL_ON, PAGE, LINK_TEMPLATE, *_COMPARING, *HOST_OPTIONS, *_COMMON),
        whole=True,
        dashed=True,
        defaults=_LOOKING,
        assumed=(("emit", "what settings of the repository say, vm with a lock, else source"),),
        of_commits=True,
    ),
    Command(
        "explain",
        "commands.explain:explain",
        """Say who decided the fields of VM as it starts: the VM, an instancetype, a preference, a preset, a setting.

        Each with its value, and the file and line where it was decided; below it who wanted it otherwise and lost.
        FIELD is one of the VirtualMachineInstance, and means all below it. What nothing of the input decides is
        KubeVirt's default, or follows from other fields.
        """,
        (_VM, Argument("paths", "[FIELD] [PATH]", many=True)),
        (EXPLAIN_FORMAT, *OPTIONS, *HOST_OPTIONS, MOST_SECONDS, CONFIG, VERBOSE),
        whole=True,
    ),
    Command(
        "report",
        "commands.report:report",
        """Write an HTML page about the VMs in PATH: who decided each field, what is wrong, and how large they are.

        Each kustomization below PATH is rendered by itself. The page is one file that loads nothing. What cannot be
        started stands in it too. As JSON or CSV it is a line or an object a VM.
        """,
        (_PATHS,),
        (FLEET_FORMAT, PAGE, LINK_TEMPLATE, QUIET, *_REPORTED, *HOST_OPTIONS, *_COMMON),
        whole=True,
        by_machine=True,
        defaults=_LOOKING,
    ),
    Command(
        "used-by",
        "commands.report:used_by",
        """List the VMs in PATH that use the instancetype or preference NAME, and which of them are pinned.

        Each with its place, in JSON also its size: whom an edit of NAME reaches, at once, or once a pin is upgraded.
        """,
        (Argument("name", "NAME", required=True), _PATHS),
        (USERS_FORMAT, QUIET, *_REPORTED, *HOST_OPTIONS, *_COMMON),
        whole=True,
    ),
    Command(
        "history",
        "commands.history:history",
        """List the edit revisions of VM, or of all: number, commit, date, what changed, what KubeVirt does with that.

        VM may be a pattern ('prod/web-*') or a namespace (prod/). They are read from the lock of PATH as git has it;
        the work tree is not touched.
        """,
        (Argument("paths", "[VM] [PATH]", many=True),),
        (HISTORY_FORMAT, SINCE, PAGE, LINK_TEMPLATE, *_PINNING, *HOST_OPTIONS, MOST_SECONDS, CONFIG, VERBOSE),
        of_commits=True,
    ),
    Command(
        "show",
        "commands.history:show",
        "Print VM as it is rendered now, or as it was at an edit revision or a commit.",
        (_VM, _PATH),
        (REVISION, AT, *OPTIONS, *HOST_OPTIONS, MOST_SECONDS, CONFIG, VERBOSE),
        excludes=((REVISION, AT),),
        of_commits=True,
    ),
    Command(
        "lsp",
        "editor.command:serve",
        """Speak with an editor: a language server on standard input and output; see docs/editor.md.

        It says what check would say of the folder that the editor has open, as it is typed. Needs the extra editor.
        """,
        (),
        (*_REPORTED, EDIT_SECONDS, *HOST_OPTIONS, CONFIG),
        hosted=True,
        whole=True,
        defaults=_ANYWHERE,
    ),
    Command(
        "schema",
        "commands.schema:schema",
        """Print the JSON Schema of KIND as a release of KubeVirt has it, for editors and for CI.

        It knows the fields, their types and the words that they take; what else admission refuses only check says.
        """,
        (Argument("kind", "KIND", required=True),),
        (RELEASE,),
    ),
    Command(
        "rule",
        "commands.rule:rule",
        "Explain a diagnostic: meaning, example, cure.",
        (Argument("code", "[CODE]"),),
        (LIST, RULE_FORMAT),
    ),
)  # fmt: skip

SECTIONS = (
    ("Rendering", OPTIONS),
    ("Reading", HOST_OPTIONS),
    ("Findings", (*_REPORTING, BASELINE, CHANGED_SINCE)),
)
"""Under which headings help lists the options of a command that has many."""

COMMANDS: dict[str, Command] = {row.name: row for row in _ROWS}
