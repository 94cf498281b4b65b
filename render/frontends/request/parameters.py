"""What an Application of Argo CD asks for by parameters; what only the host decides is in `options`."""

import json
from collections.abc import Mapping

from render.diagnostics.codes import INVALID_SETTING
from render.diagnostics.diagnostic import Diagnostic, Location
from render.frontends.request.options import DEADLINE
from render.model.hints import Any
from render.settings import OPTIONS, Layer, Source

PARAMETERS = "ARGOCD_APP_PARAMETERS"
_VALUES = ("string", "array", "map")


def parameters(environ: Mapping[str, str]) -> tuple[Layer, list[Diagnostic]]:
    """What the parameters of the Application ask for, and what is wrong with them.

    Argo CD sets no variable, or ``null``, where there are none. A parameter that was emptied in its user interface
    says nothing.
    """
    values: dict[str, Any] = {}
    layer = Layer(Source.PARAMETER, values, others=(DEADLINE.spelled(Source.PARAMETER),))
    known = {option.spelled(Source.PARAMETER) for option in (*OPTIONS, DEADLINE)}
    text = environ.get(PARAMETERS)
    if not text:
        return layer, []
    try:
        announced = json.loads(text)
    except (ValueError, RecursionError) as error:
        return layer, [_unfit(f"{PARAMETERS} is not JSON: {error}")]
    if announced is None:
        return layer, []
    if not isinstance(announced, list) or not all(
        isinstance(parameter, dict) for parameter in announced
    ):
        return layer, [_unfit(f"{PARAMETERS} is not a list of parameters")]
    faults: list[Diagnostic] = []
    for parameter in announced:
        name = parameter.get("name")
        fault = _misgiven(parameter, values)
        if fault:
            faults.append(_unfit(fault))
            continue
        value = parameter.get("array") or parameter.get("string")
        if value or name not in known:
            values[name] = value or ""
    return layer, faults


def _misgiven(parameter: Mapping[str, Any], before: Mapping[str, Any]) -> str:
    """What is wrong with *parameter* after those *before*, ``""`` if nothing is."""
    lists = (option.spelled(Source.PARAMETER) for option in OPTIONS if option.many)
    name = parameter.get("name")
    kinds = [kind for kind in _VALUES if parameter.get(kind) is not None]
    if not isinstance(name, str) or not name:
        return f"{PARAMETERS} holds a parameter without a name"
    if name in before:
        return f"parameter {name} is given twice"
    if kinds and kinds != ["string"] and (kinds != ["array"] or name not in lists):
        return f"parameter {name} is a {kinds[-1]} and should be a string"
    return ""


def _unfit(message: str) -> Diagnostic:
    return INVALID_SETTING.at(Location(), message)
