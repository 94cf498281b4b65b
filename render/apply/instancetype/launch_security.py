"""Launch security (upstream: pkg/instancetype/apply/launchsecurity.go)."""

from render.rules import Rule, claim

RULES: tuple[Rule, ...] = (claim("launchSecurity", "domain.launchSecurity"),)
