"""The checks of disks and of the volumes behind them (upstream: pkg/storage/admitters and others)."""
