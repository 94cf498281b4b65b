"""I/O threads (upstream: validateIOThreadsPolicy in admitters/vmi-create-admitter.go)."""

from collections.abc import Iterator

from render.admission.checks import Check, Subject, Violation, one_of
from render.model.release import Windowed, since, until

_POLICY = ("domain", "ioThreadsPolicy")
_MESSAGE = "Invalid IOThreadsPolicy ({value})"


def _count(subject: Subject) -> Iterator[Violation]:
    domain = subject.spec["domain"]
    threads = domain.get("ioThreads") or {}
    if domain["ioThreadsPolicy"] == "supplementalPool" and not threads.get(
        "supplementalPoolThreadCount"
    ):
        yield Violation(
            subject.at("domain", "ioThreads", "count"),
            "the number of iothreads needs to be set and positive for the dedicated policy",
            "set domain.ioThreads.supplementalPoolThreadCount",
            place=subject.at(*_POLICY),
        )


CHECKS: tuple[Check | Windowed[Check], ...] = (
    until("1.5", one_of("iothreads/policy", _POLICY, ("shared", "auto"), _MESSAGE)),
    since(
        "1.5", one_of("iothreads/policy", _POLICY, ("shared", "auto", "supplementalPool"), _MESSAGE)
    ),
    since("1.5", Check("iothreads/count", _count, where=_POLICY)),
)
