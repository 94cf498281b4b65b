import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from render.diagnostics.diagnostic import Location
from render.settings import OPTIONS, Chosen, Layer, Settings, Source, decide

ROOT = Path(__file__).parents[2]


def settled(*layers: tuple[Source, dict[str, Any]]) -> Chosen:
    return decide(Layer(source, values) for source, values in layers)


def fault(source: Source, **values: Any) -> str:
    (found,) = settled((source, values)).diagnostics
    return found.message


#: What is for helm, before anything is rendered.
OF_CHARTS = {"values", "file_parameters", "release_name"}


def test_table_and_settings_say_the_same() -> None:
    fields = Settings()._asdict()
    for option in OPTIONS:
        if option.field in OF_CHARTS:
            continue
        default = "" if fields[option.field] is None else fields[option.field]
        assert option.default == default, option.name
        assert option.kind != "choice" or option.default in option.choices
    inputs = {option.field for option in OPTIONS}
    # --set of build fills the parameters, and what cannot be read says what is unclear.
    assert fields.keys() - {"parameters", "unclear"} == inputs - OF_CHARTS


def test_spelling_of_each_source() -> None:
    (option,) = (option for option in OPTIONS if option.name == "preset-conflicts")
    assert [option.spelled(source) for source in Source] == [
        "--preset-conflicts",
        "preset-conflicts",
        "VIRT_RENDER_PRESET_CONFLICTS",
        "presetConflicts",
        "presetConflicts",
    ]


def test_strongest_source_decides() -> None:
    layers: list[tuple[Source, dict[str, Any]]] = [
        (Source.FLAG, {"--namespace": "flag"}),
        (Source.PARAMETER, {"namespace": "parameter"}),
        (Source.ENVIRONMENT, {"VIRT_RENDER_NAMESPACE": "environment"}),
        (Source.FUNCTION_CONFIG, {"namespace": "function"}),
        (Source.FILE, {"namespace": "file"}),
    ]
    expected = ["flag", "parameter", "environment", "function", "file", "default"]
    for start, namespace in enumerate(expected):
        chosen = settled(*layers[start:])
        assert chosen.diagnostics == ()
        assert chosen.values["namespace"] == namespace


def test_sources_complete_each_other() -> None:
    values = settled(
        (Source.FLAG, {"--emit": "vmi"}), (Source.FILE, {"emit": "source", "pins": "require"})
    ).values
    assert (values["emit"], values["pins"], values["catalog"]) == ("vmi", "require", ("bundled",))


@pytest.mark.parametrize(
    ("source", "key", "raw", "value"),
    [
        (Source.FLAG, "--no-such", True, None),
        (Source.FLAG, "--namespace", "../../x", None),
        (Source.ENVIRONMENT, "VIRT_RENDER_NAMESPACE", "a\nb", None),
        (Source.PARAMETER, "namespace", "prod", "prod"),
        (Source.FLAG, "--allow-empty", True, True),
        (Source.ENVIRONMENT, "VIRT_RENDER_ALLOW_EMPTY", "TRUE", True),
        (Source.PARAMETER, "annotations", "false", False),
        (Source.FILE, "annotations", False, False),
        (Source.FILE, "annotations", "false", None),
        (Source.FILE, "admission", False, "off"),
        (Source.FUNCTION_CONFIG, "admission", False, "off"),
        (Source.FILE, "admission", True, None),
        (Source.FILE, "emit", False, None),
        (Source.ENVIRONMENT, "VIRT_RENDER_ALLOW_EMPTY", "yes", None),
        (Source.FILE, "namespace", 7, None),
        (Source.FILE, "namespace", "", None),
        (Source.FILE, "emit", ["vm"], None),
        (Source.PARAMETER, "emit", "VM", None),
        (Source.FILE, "catalog", "some/folder", ("some/folder",)),
        (Source.FILE, "catalog", ["a", "none"], ("a", "none")),
        (Source.FILE, "catalog", ["a", 7], None),
        (Source.FILE, "catalog", [], None),
        (Source.ENVIRONMENT, "VIRT_RENDER_CATALOG", "a:b", ("a", "b")),
    ],
)
def test_values(source: Source, key: str, raw: Any, value: Any) -> None:
    chosen = settled((source, {key: raw}))
    assert bool(chosen.diagnostics) is (value is None)
    assert value is None or value in chosen.values.values()


def test_unknown_key_names_the_nearest_in_its_own_spelling() -> None:
    assert "did you mean presetConflicts?" in fault(Source.FILE, presetConflict="fail")
    assert "did you mean --emit?" in fault(Source.FLAG, **{"--emti": "vm"})
    assert "did you mean VIRT_RENDER_PINS?" in fault(Source.ENVIRONMENT, VIRT_RENDER_PIN="auto")


def test_wrong_value_names_the_choices_and_the_nearest() -> None:
    message = fault(Source.FLAG, **{"--emit": "vmx"})
    assert message.startswith("--emit: 'vmx' is not one of vm, vmi, ")
    assert message.endswith("did you mean vm?")
    message = fault(Source.FILE, kubevirt=1.6)
    assert message.endswith('1.6 is not a text; write it in quotes: "1.6"')
    assert "quotes" not in fault(Source.FILE, kubevirt=True)
    # YAML has read 1.10 by then.
    assert fault(Source.FILE, kubevirt=1.1).endswith("write it in quotes, as it stands there")
    message = fault(Source.FLAG, **{"--kubevirt": "1.6..1.8"})
    assert message.endswith("each is an option of its own, and diff compares two of them")


def test_overruled_value_is_judged_too() -> None:
    chosen = settled((Source.FLAG, {"--emit": "vmi"}), (Source.FILE, {"emit": "vmx"}))
    assert len(chosen.diagnostics) == 1


def test_place_of_a_key_in_a_file() -> None:
    location = Location(path=("spec",), index=0, file="f.yaml")
    (found,) = decide([Layer(Source.FILE, {"emit": "vmx"}, location)]).diagnostics
    assert found.location == Location(path=("spec", "emit"), index=0, file="f.yaml")


def test_option_without_the_one_that_it_needs() -> None:
    assert "--defaults only means something with emit vm" in (
        settled((Source.FLAG, {"--defaults": "cluster", "--emit": "vmi"})).diagnostics[0].message
    )
    assert "--stored only means something with emit expand" in fault(
        Source.FLAG, **{"--stored": True}
    )
    assert not settled((Source.FLAG, {"--emit": "expand", "--stored": True})).diagnostics
    assert not settled((Source.FLAG, {"--emit": "vmi", "--defaults": "manifest"})).diagnostics


def test_stronger_source_makes_it_the_default_again() -> None:
    chosen = settled((Source.FLAG, {"--emit": "vmi"}), (Source.FILE, {"defaults": "cluster"}))
    assert chosen.diagnostics == ()
    assert chosen.values["defaults"] == "manifest"


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"emit": "vmi", "allowEmpty": True, "clusterConfig": "kubevirt.yaml"},
        {"emit": "vmx"},
        {"Emit": "vm"},
        {"annotations": "false"},
        {"namespace": ""},
        {"lock": {}},
    ],
)
def test_json_schema_accepts_what_the_table_accepts(spec: dict[str, Any]) -> None:
    path = ROOT / "schemas" / "renderconfig.schema.json"
    schema = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    document = {"apiVersion": "virt-render.dev/v1alpha1", "kind": "RenderConfig", "spec": spec}
    accepted = jsonschema.Draft202012Validator(schema).is_valid(document)
    assert accepted is not bool(settled((Source.FILE, spec)).diagnostics)


@pytest.mark.parametrize("wrong", ["../../../x", "=x", "a="])
def test_a_file_parameter_has_a_name_and_a_file(wrong: str) -> None:
    """Also where there is no chart, and nobody reads it."""
    message = fault(Source.FILE, fileParameters=["a=b", wrong])
    assert message == f"fileParameters: {wrong!r} is no NAME=FILE"
    assert "is no NAME=FILE" in fault(Source.FLAG, **{"--file-parameters": (wrong,)})
