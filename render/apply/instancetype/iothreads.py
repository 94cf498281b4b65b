"""IO threads (upstream: pkg/instancetype/apply/iothreads.go, iothreadpolicy.go)."""

from render.rules import Rule, claim

RULES: tuple[Rule, ...] = (
    claim(
        "ioThreads.supplementalPoolThreadCount",
        "domain.ioThreads.supplementalPoolThreadCount",
        since=(1, 7),
    ),
    claim("ioThreadsPolicy", "domain.ioThreadsPolicy"),
)
