"""How much of a report is shown, and how."""

from render.model.named_tuple import NamedTuple


class Style(NamedTuple):
    """How much is shown, and how: at *most* so many findings (0: all), *grouped* and in *colour* where that is text."""

    most: int = 0
    grouped: bool = True
    colour: bool = False
