"""Memory: requests and limits, huge pages, the guest's memory (upstream: admitters/vmi-create-admitter.go)."""

from collections.abc import Iterator

from render.admission.checks import Check, Evaluate, Subject, Violation
from render.diagnostics.cause import Cause
from render.diagnostics.fix import Fix, choice, set_to
from render.model.apimachinery import quantity
from render.model.apimachinery.quantity import FORMAT_WRONG, QuantityError
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.release import Windowed, since, until

_REQUEST = ("domain", "resources", "requests", "memory")
_LIMIT = ("domain", "resources", "limits", "memory")
_GUEST = ("domain", "memory", "guest")
_HUGEPAGES = ("domain", "memory", "hugepages")
_PAGE_SIZE = (*_HUGEPAGES, "pageSize")
_SMALLEST_REQUEST = "1M"


def _worded(subject: Subject, path: FieldPath, amount: str) -> str:
    return f"{subject.text(*path)} '{quantity.canonical(amount)}'"


def _request_and_limit(subject: Subject) -> Iterator[Cause]:
    resources = subject.spec["domain"]["resources"]
    request = (resources.get("requests") or {}).get("memory", "0")
    limit = (resources.get("limits") or {}).get("memory", "0")
    if request == limit == "0":
        return
    requested, limited = quantity.value(request), quantity.value(limit)
    yield from _requested(subject, request)
    if limited < 0:
        yield Cause(
            "memory/limit-negative",
            subject.at(*_LIMIT),
            f"{_worded(subject, _LIMIT, limit)}: must be greater than or equal to 0.",
            "set no limit, or one above zero",
        )
    elif limited and requested > limited:
        yield Cause(
            "memory/request-above-limit",
            subject.at(*_REQUEST),
            f"{_worded(subject, _REQUEST, request)} is greater than {_worded(subject, _LIMIT, limit)}",
            "request less, or raise the limit",
        )


def _requested(subject: Subject, request: str) -> Iterator[Cause]:
    requested = quantity.value(request)
    if requested < 0:
        yield Cause(
            "memory/request-negative",
            subject.at(*_REQUEST),
            f"{_worded(subject, _REQUEST, request)}: must be greater than or equal to 0.",
            "request no memory, or more than none",
        )
    elif requested and quantity.compare(request, _SMALLEST_REQUEST) < 0:
        yield Cause(
            "memory/request-small",
            subject.at(*_REQUEST),
            f"{_worded(subject, _REQUEST, request)}: must be greater than or equal to 1M.",
            UNIT_MISSING,
            fixes=units_missing(request, subject.at(*_REQUEST)),
        )


UNIT_MISSING = "the unit is missing, most likely: Mi or Gi"


def units_missing(amount: Any, place: FieldPath) -> tuple[Fix, ...]:
    """The *amount* of memory at *place* with the units that it may lack; none if it has one, or may well be bytes."""
    text = str(amount)
    if (
        not text.isdecimal()
        or not text.strip("0")
        or quantity.compare(text, _SMALLEST_REQUEST) >= 0
    ):
        return ()
    return choice(
        *((f"write {text}{unit}", set_to(place, f"{text}{unit}")) for unit in ("Mi", "Gi"))
    )


def _page_size_faults(reported_path: FieldPath, *, any_memory: bool) -> Evaluate:
    """The rules of huge pages; *reported_path* is what KubeVirt calls the page size in its texts.

    Pages are counted in the request, or with *any_memory* in the guest's memory or the limit where that is none.
    """

    def evaluate(subject: Subject) -> Iterator[Cause]:
        written = subject.get(*_PAGE_SIZE) or ""
        try:
            quantity.parse_text(written)
        except QuantityError:
            yield Cause(
                "memory/page-size",
                subject.at(*reported_path),
                f"{subject.text(*reported_path)} '{written}': {FORMAT_WRONG}",
                "name a page size that the nodes have, 2Mi or 1Gi",
                place=subject.at(*_PAGE_SIZE),
            )
            return
        request = subject.get(*_REQUEST) or "0"
        memory = quantity.value(request)
        if any_memory and not memory:
            guest = subject.get(*_GUEST)
            if guest is None:
                yield Cause(
                    "memory/hugepages-without-memory",
                    subject.at(*_HUGEPAGES),
                    f"the webhook of KubeVirt fails on {subject.text(*_HUGEPAGES)} without {subject.text(*_GUEST)} and "
                    f"{subject.text(*_REQUEST)}",
                    "set domain.memory.guest",
                )
                return
            memory = quantity.value(guest) or quantity.value(subject.get(*_LIMIT) or "0")
        may_be_less = any_memory and not memory
        yield from _partial_pages(
            subject, memory, f"{subject.text(*reported_path)} '{written}'", may_be_less=may_be_less
        )

    return evaluate


def _partial_pages(
    subject: Subject, memory: int, page_text: str, *, may_be_less: bool
) -> Iterator[Cause]:
    """That *memory* is no whole number of pages, or less than one; *page_text* is the page size in KubeVirt's words."""
    page, place = quantity.value(subject.get(*_PAGE_SIZE) or ""), subject.at(*_PAGE_SIZE)
    request_text = _worded(subject, _REQUEST, subject.get(*_REQUEST) or "0")
    if memory < page and not may_be_less:
        yield Cause(
            "memory/below-page-size",
            subject.at(*_REQUEST),
            f"{request_text} must be equal to or larger than page size {page_text}",
            "give the VM at least one page of memory",
            place=place,
        )
    elif not page:
        yield Cause(
            "memory/page-size",
            place,
            f"the webhook of KubeVirt fails on {page_text}: it divides by it",
            "name a page size that the nodes have, 2Mi or 1Gi",
        )
    elif memory % page:
        yield Cause(
            "memory/page-multiple",
            subject.at(*_REQUEST),
            f"{request_text} is not a multiple of the page size {page_text}",
            "give the VM a whole number of pages",
            place=place,
        )


def _above_limit(subject: Subject) -> Iterator[Violation]:
    if subject.config.rollout_strategy == "LiveUpdate":
        return
    guest, limit = subject.get(*_GUEST), subject.get(*_LIMIT) or "0"
    if quantity.value(limit) and quantity.value(limit) < quantity.value(guest):
        yield Violation(
            subject.at(*_GUEST),
            f"{_worded(subject, _GUEST, guest)} must be equal to or less than the memory limit "
            f"{_worded(subject, _LIMIT, limit)}",
            "give the guest less memory, or raise the limit",
        )


#: QUIRK(vmi-create-admitter.go): before 1.8 the page size is called by a path that no VMI has.
_REPORTED_BEFORE_1_8 = ("domain", "hugepages", "size")


def _pages_check(reported_path: FieldPath, *, any_memory: bool) -> Check:
    return Check(
        "memory", _page_size_faults(reported_path, any_memory=any_memory), where=_HUGEPAGES
    )


CHECKS: tuple[Check | Windowed[Check], ...] = (
    Check("memory", _request_and_limit, where=("domain", "resources")),
    until("1.6.4", _pages_check(_REPORTED_BEFORE_1_8, any_memory=False)),
    since("1.6.4", until("1.8", _pages_check(_REPORTED_BEFORE_1_8, any_memory=True))),
    since("1.8", _pages_check(_PAGE_SIZE, any_memory=True)),
    Check("memory/guest-above-limit", _above_limit, needs="vmRolloutStrategy", where=_GUEST),
)
