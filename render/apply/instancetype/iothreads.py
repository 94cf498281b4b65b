"""IO threads (upstream: pkg/instancetype/apply/iothreads.go, iothreadpolicy.go)."""

from render.model.release import since
from render.rules import Rules, claim

RULES: Rules = (
    since(
        "1.7",
        claim(
            "ioThreads.supplementalPoolThreadCount", "domain.ioThreads.supplementalPoolThreadCount"
        ),
    ),
    claim("ioThreadsPolicy", "domain.ioThreadsPolicy"),
)
