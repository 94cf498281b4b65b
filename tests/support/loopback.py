"""A server on this machine that must receive nothing."""

from typing import NamedTuple


class Loopback(NamedTuple):
    """A server of this machine: its address, and what was asked of it."""

    url: str
    requests: list[str]
