"""What a repository or an Application waives: told in one line, whatever the format, and in JSON."""

from collections.abc import Iterable, Sequence

from render.model.counting import counted
from render.model.hints import Any
from render.model.named_tuple import NamedTuple

_LONGEST = 60


class Waiver(NamedTuple):
    """That *source*, a file or a kind of setting, has *setting* at *value*, by which less is looked at, or checked."""

    setting: str
    value: str | bool | tuple[str, ...]
    source: str

    def __str__(self) -> str:
        return f"{self.setting} {in_words(self.value)}"

    def plain(self) -> dict[str, Any]:
        """The same as a tree of plain values."""
        value = list(self.value) if isinstance(self.value, tuple) else self.value
        return {**self._asdict(), "value": value}


def in_words(value: Any) -> str:
    """The *value* of a setting, None where there is none.

    Of what is long no more than the beginning, and of a list how many are left out: ``a, b and 3 more``.
    """
    if isinstance(value, list | tuple):
        return _listed([*map(in_words, value)])
    if value is None or isinstance(value, bool):
        return {None: "none", True: "on", False: "off"}[value]
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _listed(words: Sequence[str]) -> str:
    """The first of *words*, as many as there is room for, and how many others there are."""
    count = len(words[:1])
    length = sum(map(len, words[:1]))
    while count < len(words) and (length := length + len(f", {words[count]}")) <= _LONGEST:
        count += 1
    text = ", ".join(words[:count])
    return f"{text} and {len(words) - count:,} more" if count < len(words) else text


def line(waivers: Iterable[Waiver], accepted: int = 0, ignored: int = 0) -> str:
    """*waivers* by source, findings *accepted* by a baseline and objects that may *ignore* some; nothing without.

    ``waived: admission off, exclude vendor by .virt-render.yaml; 9 findings accepted by the baseline``
    """
    by_source: dict[str, list[str]] = {}
    for waiver in waivers:
        by_source.setdefault(waiver.source, []).append(str(waiver))
    parts = [f"{', '.join(settings)} by {source}" for source, settings in by_source.items()]
    if accepted:
        parts.append(f"{counted(accepted, 'finding')} accepted by the baseline")
    if ignored:
        parts.append(f"annotations of {counted(ignored, 'object')} that ignore findings")
    return f"waived: {'; '.join(parts)}" if parts else ""
