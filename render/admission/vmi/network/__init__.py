"""The checks of interfaces, of the networks behind them and of DNS (upstream: pkg/network/admitter and others)."""
