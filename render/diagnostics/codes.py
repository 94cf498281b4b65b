"""The registry of codes: the only place where one is written down.

The first digit is the stage: 1 input, 2 resolution, 3 conflicts, 4 requirements and what webhooks refuse, 5 conversion,
6 pins, 7 defaults and presets, 8 settings, 9 ours. A retired number is never used again. The text that explains a code
to a user is in `render.diagnostics.explanations`, which only ``virt-render rule`` and the documentation load.
"""

from collections.abc import Iterable

from render.diagnostics.diagnostic import Diagnostic, Location, Related, Severity, ordered
from render.diagnostics.exits import Exit
from render.diagnostics.fix import Fix
from render.model.named_tuple import NamedTuple
from render.model.resource import OWN

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO


def page(number: str) -> str:
    """The page of the documentation that explains the code *number*, one a digit."""
    return f"vr{number[2]}xx"


class Code(NamedTuple):
    """One kind of finding.

    *withholds*: an error of this kind keeps the object out of the library's ``.resources``.
    *suppressible*: the annotation ``virt-render.dev/ignore.CODE`` may silence it.
    *exit*: the status of a process in which it is the error that says least of the input.
    *of_text*: found by who reads the text of a manifest, and unknown to the library.
    *follows*: where part of the input could not be read it says nothing, since what it misses may stand there.
    *always_reported*: a note that is worth saying without ``-v``.
    *of_admission*: looked for only where ``--admission`` asks what a cluster would refuse; *of_guest*: only where
    ``--guest`` asks what guests boot with.
    *beyond*: about what comes after KubeVirt's own webhooks have admitted a VM.
    *of_object*: its message names VMs which come and go while it is the same finding about its object.
    *since*: the version of virt-render that has it.
    """

    number: str
    slug: str
    severity: Severity
    withholds: bool = False
    suppressible: bool = True
    exit: Exit = Exit.FINDINGS
    of_text: bool = False
    follows: bool = False
    always_reported: bool = False
    of_admission: bool = False
    of_guest: bool = False
    beyond: bool = False
    of_object: bool = False
    since: str = "0.1.0"

    @property
    def uri(self) -> str:
        """Where the documentation explains it."""
        return f"https://{OWN}/docs/diagnostics/{page(self.number)}#{self.number.lower()}"

    def at(
        self,
        location: Location,
        message: str,
        *related: Related,
        help: str = "",  # noqa: A002 - the word that users read
        severity: Severity | None = None,
        fixes: tuple[Fix, ...] = (),
    ) -> Diagnostic:
        """A finding of this kind; *severity* overrides the registry's."""
        return Diagnostic(
            self.number, severity or self.severity, message, location, related, help, fixes=fixes
        )


def _fatal(number: str, slug: str, exit_: Exit = Exit.FINDINGS, *, follows: bool = False) -> Code:
    return Code(
        number, slug, ERROR, withholds=True, suppressible=False, exit=exit_, follows=follows
    )


def _error(number: str, slug: str) -> Code:
    return Code(number, slug, ERROR)


def _refused(number: str, slug: str) -> Code:
    return Code(number, slug, ERROR, of_admission=True)


def _beyond(number: str, slug: str) -> Code:
    return Code(number, slug, ERROR, of_admission=True, beyond=True)


def _warning(number: str, slug: str) -> Code:
    return Code(number, slug, WARNING)


def _info(number: str, slug: str, *, always_reported: bool = False) -> Code:
    return Code(number, slug, INFO, always_reported=always_reported)


YAML_SYNTAX = _fatal("VR101", "yaml-syntax")
DUPLICATE_KEY = _fatal("VR102", "duplicate-key")
DUPLICATE_OBJECT = _fatal("VR103", "duplicate-object")
NOT_AN_OBJECT = _fatal("VR104", "not-an-object")
UNKNOWN_FIELD = Code("VR105", "unknown-field", ERROR, suppressible=False)
WRONG_TYPE = _fatal("VR106", "wrong-type")
MISSING_FIELD = _fatal("VR107", "missing-field")
INVALID_QUANTITY = _fatal("VR108", "invalid-quantity")
INVALID_VALUE = _fatal("VR109", "invalid-value")
UNREADABLE = _fatal("VR110", "unreadable", Exit.UNREADABLE)
LIMIT_EXCEEDED = _fatal("VR111", "limit-exceeded", Exit.UNREADABLE)
NO_OBJECTS = _fatal("VR112", "no-objects")
AMBIGUOUS_SCALAR = Code("VR113", "ambiguous-scalar", WARNING, of_text=True)
CONTENT_DROPPED = _warning("VR114", "content-dropped")
PLACEHOLDER = Code("VR115", "unfilled-placeholder", ERROR, withholds=True, always_reported=True)
KUSTOMIZE_FAILED = _fatal("VR116", "kustomize-failed", Exit.UNREADABLE)
KUSTOMIZE_MISSING = _fatal("VR117", "kustomize-missing", Exit.USAGE)
FILE_SKIPPED = _info("VR118", "file-skipped")
SEVERAL_ROOTS = _fatal("VR119", "several-kustomizations", Exit.USAGE)
UNUSED_SUPPRESSION = Code("VR120", "unused-suppression", WARNING, suppressible=False)
UNWRITABLE = _fatal("VR121", "unwritable", Exit.UNREADABLE)
REMOTE_BASE = _fatal("VR122", "remote-base-refused")
UNKNOWN_KIND = _error("VR123", "unknown-kind")
BOOT_ORDER_LOST = Code("VR124", "boot-order-lost", WARNING, of_text=True)
PARAMETER_MISSING = _fatal("VR126", "parameter-missing")
HELM_FAILED = _fatal("VR127", "helm-failed", Exit.UNREADABLE)
HELM_MISSING = _fatal("VR128", "helm-missing", Exit.USAGE)
METADATA_REFUSED = _error("VR129", "metadata-refused")
OTHER_NOTATION = _info("VR130", "other-notation", always_reported=True)
SERVER_FIELDS = _info("VR131", "server-fields", always_reported=True)
PATCH_UNMATCHED = Code("VR132", "patch-unmatched", WARNING, suppressible=False, of_text=True)
KUSTOMIZATION_MISNAMED = Code("VR133", "kustomization-misnamed", WARNING, suppressible=False)
NOT_IN_GIT = Code("VR134", "not-in-git", WARNING, suppressible=False, always_reported=True)

INSTANCETYPE_NOT_FOUND = _fatal("VR201", "instancetype-not-found", follows=True)
PREFERENCE_NOT_FOUND = _fatal("VR202", "preference-not-found", follows=True)
UNEXPECTED_KIND = _fatal("VR203", "unexpected-matcher-kind")
INVALID_MATCHER = _fatal("VR204", "invalid-matcher")
INFERENCE_FAILED = _fatal("VR205", "inference-failed", follows=True)
INFERENCE_IGNORED = _info("VR206", "inference-ignored")
REVISION_NOT_FOUND = _fatal("VR207", "revision-not-found", follows=True)
REVISION_UNFIT = _fatal("VR208", "revision-unfit")
BUNDLED_USED = _info("VR209", "bundled-object-used")
BUNDLED_DIFFERS = _info("VR210", "differs-from-bundled", always_reported=True)
DEFINED_ELSEWHERE = _info("VR211", "defined-elsewhere")
AMBIGUOUS_DEFINITION = _warning("VR212", "ambiguous-definition")
RENAMED_AWAY = _warning("VR213", "definition-renamed-away")

INSTANCETYPE_CONFLICT = _fatal("VR301", "instancetype-conflict")

REQUIREMENT_UNMET = _error("VR401", "requirement-unmet")
SPREAD_INDIVISIBLE = _error("VR402", "spread-indivisible")
INVALID_INSTANCETYPE = _error("VR403", "invalid-instancetype")
INVALID_PREFERENCE = _error("VR404", "invalid-preference")
INVALID_PRESET = _error("VR405", "invalid-preset")
NO_CPU_FOR_FEATURES = _fatal("VR406", "no-cpu-for-features")
SPREAD_RATIO_ZERO = _fatal("VR407", "spread-ratio-zero")
METADATA = _refused("VR410", "metadata")
NAMES = _refused("VR411", "names")
MEMORY = _refused("VR412", "memory")
CPU = _refused("VR413", "cpu")
MACHINE = _refused("VR414", "machine")
ACPI = _refused("VR415", "acpi")
START = _refused("VR416", "start")
PLACEMENT = _refused("VR417", "placement")
NETWORK = _refused("VR418", "network")
CLAIMS = _refused("VR419", "claims")
DISKS = _refused("VR420", "disks")
BOOT_ORDER = _refused("VR421", "boot-order")
INPUTS = _refused("VR422", "inputs")
IOTHREADS = _refused("VR423", "iothreads")
PROBES = _refused("VR424", "probes")
FIRMWARE = _refused("VR425", "firmware")
VOLUMES = _refused("VR426", "volumes")
CLOUD_INIT = _refused("VR427", "cloud-init")
CREDENTIALS = _refused("VR428", "credentials")
DNS = _refused("VR429", "dns")
EVICTION = _refused("VR430", "eviction")
DEVICES = _refused("VR431", "devices")
GRACE = _refused("VR432", "grace")
SECURITY = _refused("VR433", "security")
GATES = _refused("VR434", "gates")
ACCOUNTS = _refused("VR435", "accounts")
DATA_VOLUME_TEMPLATES = _refused("VR436", "data-volume-templates")
LIVE_UPDATE = _refused("VR437", "live-update")
HYPERV = _refused("VR438", "hyperv")
ARCHITECTURE = _refused("VR439", "architecture")
POOL = _refused("VR440", "pool")
POOL_UNUSABLE = _error("VR441", "pool-unusable")
SCHEMA = _refused("VR442", "schema")
POD = _beyond("VR443", "pod")
QUOTA = _beyond("VR444", "quota")
LIMITS = _beyond("VR445", "limits")
POD_SECURITY = _beyond("VR446", "pod-security")
NO_POD = _fatal("VR447", "no-pod")
GUEST_MEMORY = _beyond("VR448", "guest-memory")
NEVER_STARTS = _beyond("VR449", "never-starts")
GUEST = Code("VR450", "guest", WARNING, of_guest=True, beyond=True, always_reported=True)
GUEST_UNREAD = Code("VR451", "guest-unread", INFO, of_guest=True, beyond=True)
REFERENCE = Code(
    "VR455", "reference", WARNING, of_admission=True, beyond=True, always_reported=True
)
IMPORT_REFUSED = _beyond("VR460", "cdi")

DEPRECATED_VERSION = _warning("VR501", "deprecated-version")
DEPRECATED_FIELD = _warning("VR502", "deprecated-field")
NOT_CONVERTIBLE = _fatal("VR503", "not-convertible")
LEFT_OUT = _info("VR504", "left-out", always_reported=True)
NOT_EXPANDED = _info("VR505", "not-expanded", always_reported=True)

LOCK_INVALID = Code("VR601", "lock-invalid", ERROR, suppressible=False)
LOCK_HALF_MERGED = Code("VR602", "lock-half-merged", ERROR, suppressible=False)
LOCK_EDITED = Code("VR603", "lock-edited", ERROR, suppressible=False)
LOCK_NEWER = Code("VR604", "lock-newer", ERROR, suppressible=False)
LOCKS_DISAGREE = Code("VR605", "locks-disagree", ERROR, suppressible=False)
PIN_MISSING = _error("VR606", "pin-missing")
PIN_ENDED = _warning("VR607", "pin-ended")
OBJECT_CHANGED = Code("VR608", "pinned-object-changed", WARNING, of_object=True)
OBJECT_GONE = Code("VR609", "pinned-object-gone", INFO, always_reported=True, of_object=True)
PIN_OUTDATED = Code("VR610", "pin-outdated", ERROR, suppressible=False)
MERGE_REFUSED = Code("VR611", "lock-merge-refused", ERROR, suppressible=False)
NOT_RENDERED = Code("VR612", "not-rendered", ERROR, suppressible=False)
EDITED_SINCE = Code("VR613", "edited-since-rendered", ERROR, suppressible=False)
NAME_TAKEN = _fatal("VR614", "hashed-name-taken")
HISTORY_UNREADABLE = Code("VR615", "history-unreadable", ERROR, suppressible=False, exit=Exit.USAGE)
HISTORY_ENDS = _info("VR616", "history-ends", always_reported=True)
LOCK_UNUSED = Code("VR617", "lock-unused", WARNING, suppressible=False)
PRESET_NOT_PINNED = _info("VR618", "preset-not-pinned", always_reported=True)
REVISION_NUMBERS = _info("VR619", "two-revision-numbers", always_reported=True)
PINS_NOT_ASKED = _info("VR620", "pins-not-asked", always_reported=True)
REVISION_EDITED = _error("VR621", "revision-edited")

DEFAULT_NETWORK = _fatal("VR701", "default-network-impossible")
PRESETS_CONFLICT = _fatal("VR702", "presets-conflict")
PRESET_OVERRIDDEN = _error("VR703", "preset-overridden")
PRESET_DEPRECATED = _warning("VR704", "preset-deprecated")
PRESET_SELECTOR = _fatal("VR705", "preset-selector-invalid")
RUN_STRATEGY = _refused("VR706", "run-strategy")
INVALID_CLUSTER_CONFIG = _warning("VR707", "cluster-config-invalid")
CLUSTER_SETTINGS = _info("VR708", "cluster-settings-used")
PRESET_PART_IGNORED = _warning("VR709", "preset-part-ignored")
NO_STABLE_IDENTITY = _warning("VR710", "no-stable-identity")
RELEASE = _info("VR711", "kubevirt-release")
PRESET_UNREACHED = _info("VR712", "preset-reaches-nothing", always_reported=True)
USED_TWICE = Code("VR713", "used-twice", WARNING, of_admission=True)
CANNOT_MIGRATE = Code("VR714", "cannot-migrate", WARNING, of_admission=True)
CLUSTER_CONFIG_REFUSED = _error("VR715", "cluster-config-refused")
MATCHERS_EXPANDED = _warning("VR716", "matchers-expanded")

INVALID_SETTING = _fatal("VR801", "invalid-setting", Exit.USAGE)
USAGE = _fatal("VR802", "usage", Exit.USAGE)
PATTERN_UNMATCHED = Code("VR803", "pattern-unmatched", WARNING, suppressible=False)
UNMET_EXPECTATION = Code("VR804", "unmet-expectation", ERROR, suppressible=False)

INTERNAL = _fatal("VR901", "internal-error", Exit.INTERNAL)
DEADLINE = _fatal("VR902", "deadline-exceeded", Exit.DEADLINE)


def of_check(name: str) -> Code:
    """The code of a check of admission: its concern is the slug."""
    return _BY_CONCERN[name.partition("/")[0]]


CODES: dict[str, Code] = {
    code.number: code for code in tuple(globals().values()) if isinstance(code, Code)
}
_BY_CONCERN: dict[str, Code] = {code.slug: code for code in CODES.values()}
_STRONGEST_FIRST = (Exit.INTERNAL, Exit.DEADLINE, Exit.USAGE, Exit.UNREADABLE, Exit.FINDINGS)


def status(diagnostics: Iterable[Diagnostic]) -> Exit:
    """The status for *diagnostics*: `Exit.OK` without errors, else that of the error that says least of the input."""
    seen = {CODES[diagnostic.code].exit for diagnostic in diagnostics if diagnostic.is_error}
    return min(seen, key=_STRONGEST_FIRST.index, default=Exit.OK)


def is_missed(diagnostic: Diagnostic) -> bool:
    """Whether *diagnostic* is of what a VM misses, or a lock, which may stand elsewhere in the repository."""
    follows = CODES[diagnostic.code].follows and diagnostic.severity is not Severity.INFO
    return follows or diagnostic.code == OBJECT_GONE.number


def worth_saying(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Leave out what only ``-v`` shows: notes on the reading, and repetitions of one note.

    This comes before any place is looked up, since every VM of a fleet may give the same note.
    """
    kept, seen = [], set()
    for diagnostic in ordered(diagnostics):
        if diagnostic.severity is Severity.INFO:
            code = CODES[diagnostic.code]
            identity = (diagnostic.code, diagnostic.message, diagnostic.location)
            if identity in seen or not code.always_reported:
                continue
            seen.add(identity)
        kept.append(diagnostic)
    return kept
