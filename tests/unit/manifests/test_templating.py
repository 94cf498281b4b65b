"""Lines of what helm prints, and the lines of the template that wrote them."""

import pytest

from render.manifests.charts.templating import compared

VM = """\
{{- if .Values.vm }}
kind: VirtualMachine
metadata:
  name: {{ .Values.name }}
  labels: {{- toYaml .Values.labels | nindent 4 }}
spec:
  template:
    metadata:
      name: {{ .Values.name }}
{{- end }}
"""


@pytest.mark.parametrize(
    ("template", "made", "wanted"),
    [
        ("a: 1\nb: 2", "a: 1\nb: 2", [1, 2]),
        ("a: {{ .x }}\nb: {{ .y }}", "b: 2\na: 1", [2, 1]),
        (VM, "kind: VirtualMachine\nmetadata:\n  name: web", [2, 3, 4]),
        (VM, "  labels:\n    a: b\nspec:\n      name: web", [5, 0, 6, 9]),
        # A loop writes a line again and again.
        ("{{ range .x }}\n- a: {{ . }}\n{{ end }}", "- a: 1\n- a: 2", [2, 2]),
        # Of lines that are alike, the one between its neighbours.
        ("a:\n  x: 1\nb:\n  x: 1", "b:\n  x: 1", [3, 4]),
        ("a:\n  x: 1\n  x: 1\nb:", "a:\n  x: 1\nb:", [1, 0, 4]),
        ("x: {{ .a }}\nx: {{ .b }}", "x: 1", [0]),
        ("a: {{ .x }}.de", "a: y.com", [0]),
        ("{{ .x }}: 1\n{{ .y }}", "a: 1", [0]),
        ("a: {{ .x }}", "a: ", [1]),
        ("---\n# note\na: 1", "---\n# note\n\na: 1", [0, 0, 0, 3]),
    ],
)
def test_lines_are_those_that_wrote_them(template: str, made: str, wanted: list[int]) -> None:
    assert compared(template.splitlines(), made.splitlines()) == wanted
