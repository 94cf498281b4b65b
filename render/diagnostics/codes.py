"""The registry of codes: the only place where one is written down.

The first digit is the stage: 1 input, 2 resolution, 3 conflicts, 4 requirements, 5 conversion, 6 pins, 7 defaults and
presets, 8 settings, 9 ours. A retired number is never used again. The text that explains a code to a user is in
`render.diagnostics.explanations`, which only ``virt-render rule`` and the documentation load.
"""

from typing import NamedTuple

from render.diagnostics.diagnostic import Diagnostic, Location, Related, Severity

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO


class Code(NamedTuple):
    """One kind of finding.

    *withholds*: an error of this kind keeps the object out of the library's ``.resources``.
    *suppressible*: the annotation ``virt-render.dev/ignore.CODE`` may silence it.
    """

    number: str
    slug: str
    severity: Severity
    withholds: bool = False
    suppressible: bool = True

    def at(
        self,
        location: Location,
        message: str,
        *related: Related,
        help: str = "",  # noqa: A002 - the word that users read
        severity: Severity | None = None,
    ) -> Diagnostic:
        """A finding of this kind; *severity* overrides the registry's."""
        return Diagnostic(self.number, severity or self.severity, message, location, related, help)


def _fatal(number: str, slug: str) -> Code:
    return Code(number, slug, ERROR, withholds=True, suppressible=False)


def _error(number: str, slug: str) -> Code:
    return Code(number, slug, ERROR)


def _warning(number: str, slug: str) -> Code:
    return Code(number, slug, WARNING)


def _info(number: str, slug: str) -> Code:
    return Code(number, slug, INFO)


YAML_SYNTAX = _fatal("VR101", "yaml-syntax")
DUPLICATE_KEY = _fatal("VR102", "duplicate-key")
DUPLICATE_OBJECT = _fatal("VR103", "duplicate-object")
NOT_AN_OBJECT = _fatal("VR104", "not-an-object")
UNKNOWN_FIELD = Code("VR105", "unknown-field", ERROR, suppressible=False)
WRONG_TYPE = _fatal("VR106", "wrong-type")
MISSING_FIELD = _fatal("VR107", "missing-field")
INVALID_QUANTITY = _fatal("VR108", "invalid-quantity")
INVALID_VALUE = _fatal("VR109", "invalid-value")
UNREADABLE = _fatal("VR110", "unreadable")
LIMIT_EXCEEDED = _fatal("VR111", "limit-exceeded")
NO_OBJECTS = _fatal("VR112", "no-objects")
AMBIGUOUS_SCALAR = _warning("VR113", "ambiguous-scalar")
CONTENT_DROPPED = _warning("VR114", "content-dropped")
PLACEHOLDER = Code("VR115", "unfilled-placeholder", ERROR, withholds=True)
KUSTOMIZE_FAILED = _fatal("VR116", "kustomize-failed")
KUSTOMIZE_MISSING = _fatal("VR117", "kustomize-missing")
FILE_SKIPPED = _info("VR118", "file-skipped")
SEVERAL_ROOTS = _fatal("VR119", "several-kustomizations")
UNUSED_SUPPRESSION = Code("VR120", "unused-suppression", WARNING, suppressible=False)
UNWRITABLE = _fatal("VR121", "unwritable")
REMOTE_BASE = _fatal("VR122", "remote-base-refused")
UNKNOWN_KIND = _error("VR123", "unknown-kind")

INSTANCETYPE_NOT_FOUND = _fatal("VR201", "instancetype-not-found")
PREFERENCE_NOT_FOUND = _fatal("VR202", "preference-not-found")
UNEXPECTED_KIND = _fatal("VR203", "unexpected-matcher-kind")
INVALID_MATCHER = _fatal("VR204", "invalid-matcher")
INFERENCE_FAILED = _fatal("VR205", "inference-failed")
INFERENCE_IGNORED = _info("VR206", "inference-ignored")
REVISION_NOT_FOUND = _fatal("VR207", "revision-not-found")
REVISION_UNFIT = _fatal("VR208", "revision-unfit")
BUNDLED_USED = _info("VR209", "bundled-object-used")
BUNDLED_DIFFERS = _info("VR210", "differs-from-bundled")

INSTANCETYPE_CONFLICT = _fatal("VR301", "instancetype-conflict")

REQUIREMENT_UNMET = _error("VR401", "requirement-unmet")
SPREAD_INDIVISIBLE = _error("VR402", "spread-indivisible")
INVALID_INSTANCETYPE = _error("VR403", "invalid-instancetype")
INVALID_PREFERENCE = _error("VR404", "invalid-preference")
INVALID_PRESET = _error("VR405", "invalid-preset")
NO_CPU_FOR_FEATURES = _fatal("VR406", "no-cpu-for-features")
SPREAD_RATIO_ZERO = _fatal("VR407", "spread-ratio-zero")

DEPRECATED_VERSION = _warning("VR501", "deprecated-version")
DEPRECATED_FIELD = _warning("VR502", "deprecated-field")
NOT_CONVERTIBLE = _fatal("VR503", "not-convertible")

LOCK_INVALID = Code("VR601", "lock-invalid", ERROR, suppressible=False)
LOCK_HALF_MERGED = Code("VR602", "lock-half-merged", ERROR, suppressible=False)
LOCK_EDITED = Code("VR603", "lock-edited", ERROR, suppressible=False)
LOCK_NEWER = Code("VR604", "lock-newer", ERROR, suppressible=False)
LOCKS_DISAGREE = Code("VR605", "locks-disagree", ERROR, suppressible=False)
PIN_MISSING = _error("VR606", "pin-missing")
PIN_ENDED = _warning("VR607", "pin-ended")
OBJECT_CHANGED = _warning("VR608", "pinned-object-changed")
OBJECT_GONE = _info("VR609", "pinned-object-gone")
PIN_OUTDATED = Code("VR610", "pin-outdated", ERROR, suppressible=False)
MERGE_REFUSED = Code("VR611", "lock-merge-refused", ERROR, suppressible=False)
NOT_RENDERED = Code("VR612", "not-rendered", ERROR, suppressible=False)
EDITED_SINCE = Code("VR613", "edited-since-rendered", ERROR, suppressible=False)
NAME_TAKEN = _fatal("VR614", "hashed-name-taken")
HISTORY_UNREADABLE = Code("VR615", "history-unreadable", ERROR, suppressible=False)
HISTORY_ENDS = _info("VR616", "history-ends")

DEFAULT_NETWORK = _fatal("VR701", "default-network-impossible")
PRESETS_CONFLICT = _fatal("VR702", "presets-conflict")
PRESET_OVERRIDDEN = _error("VR703", "preset-overridden")
PRESET_DEPRECATED = _warning("VR704", "preset-deprecated")
PRESET_SELECTOR = _fatal("VR705", "preset-selector-invalid")
RUN_STRATEGY = _error("VR706", "run-strategy-invalid")
INVALID_CLUSTER_CONFIG = _warning("VR707", "cluster-config-invalid")
CLUSTER_SETTINGS = _info("VR708", "cluster-settings-used")
PRESET_PART_IGNORED = _warning("VR709", "preset-part-ignored")
NO_STABLE_IDENTITY = _warning("VR710", "no-stable-identity")

INVALID_SETTING = _fatal("VR801", "invalid-setting")
USAGE = _fatal("VR802", "usage")

INTERNAL = _fatal("VR901", "internal-error")
DEADLINE = _fatal("VR902", "deadline-exceeded")

CODES: dict[str, Code] = {
    code.number: code for code in tuple(globals().values()) if isinstance(code, Code)
}
