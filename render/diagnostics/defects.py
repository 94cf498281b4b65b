"""Faults of ours: what one of them comes to where the rest of the input is still worth looking at."""

import os

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location

KINDS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What nobody raises on purpose beyond those who expect it."""
HELP = "please report it to the project with the smallest input that does it; VIRT_RENDER_DEBUG=1 shows more"


def message(error: Exception) -> str:
    """Where it failed, but not the error's own words: they may quote what is secret in a manifest."""
    place, trace = "", error.__traceback__
    while trace:
        file = trace.tb_frame.f_code.co_filename
        if f"{os.sep}render{os.sep}" in file:
            place = f" in {file.rpartition(f'{os.sep}render{os.sep}')[2]}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(error).__name__}{place}; this is a defect in virt-render, not in your manifests"


def finding(error: Exception, location: Location) -> Diagnostic:
    """The finding that we failed with *error* on what stands at *location*."""
    return codes.INTERNAL.at(location, message(error), help=HELP)
