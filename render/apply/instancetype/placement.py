"""Node selector and scheduler (upstream: pkg/instancetype/apply/nodeselector.go, scheduler.go)."""

from render.rules import Rule, claim

RULES: tuple[Rule, ...] = (
    claim("nodeSelector", "nodeSelector"),
    claim("schedulerName", "schedulerName"),
)
