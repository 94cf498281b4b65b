"""What is said where ``inferFromVolume`` leads to nothing: the object, or the volume, that was meant."""

import pytest

from tests.support.asking import Ask

OBJECTS = """\
apiVersion: cdi.kubevirt.io/v1beta1
kind: DataSource
metadata: {name: win2k22, namespace: golden-images}
spec: {source: {pvc: {name: win2k22, namespace: golden-images}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: erp-root, namespace: erp}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: cdi.kubevirt.io/v1beta1
kind: DataVolume
metadata: {name: erp-data, namespace: erp}
spec:
  sourceRef: {kind: DataSource, name: NAME, namespace: SPACE}
  storage: {resources: {requests: {storage: 1Gi}}}
---
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: erp, namespace: erp}
spec:
  runStrategy: Always
  instancetype: {inferFromVolume: VOLUME}
  template:
    spec:
      domain: {devices: {}}
      volumes:
      - {name: root, SOURCE}
"""
CLAIM = "persistentVolumeClaim: {claimName: erp-root}"
DATA = "dataVolume: {name: erp-data}"


@pytest.mark.parametrize(
    ("words", "help_text"),
    [
        (
            {"SOURCE": CLAIM.replace("erp-root", "erp-rot")},
            "did you mean erp-root? else add the Pers",
        ),
        (
            {"SOURCE": DATA.replace("erp-data", "erp-dataa")},
            "did you mean erp-data? else add the Pers",
        ),
        ({"SPACE": "golden-image"}, "did you mean golden-images/win2k22? else add the DataSource"),
        (
            {"NAME": "wiin2k22"},
            "did you mean win2k22? else add the DataSource golden-images/wiin2k22",
        ),
        ({"NAME": "rhel"}, "add the DataSource golden-images/rhel to the input"),
        ({"SOURCE": CLAIM, "VOLUME": "rooot"}, "did you mean root?"),
        (
            {"SOURCE": CLAIM, "VOLUME": "other"},
            "name the object instead, or label the volume's sou",
        ),
        ({"SOURCE": CLAIM}, "name the object instead, or label the volume's source"),
    ],
)
def test_what_was_meant(ask: Ask, words: dict[str, str], help_text: str) -> None:
    right = {"SOURCE": DATA, "NAME": "win2k22", "SPACE": "golden-images", "VOLUME": "root"}
    text = OBJECTS
    for word, value in {**right, **words}.items():
        text = text.replace(word, value)
    told = ask("check", "-", stdin=text).out
    assert told.count("error VR205 inference-failed") == 1, told
    assert f"\n  help: {help_text}" in told
