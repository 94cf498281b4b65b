"""What is said of texts that guests boot with: loud where a guest ignores them, silent where nobody can be sure."""

import pytest

from render.guest import texts
from render.guest.texts import Remark

HEAD = "#cloud-config\n"


def loud(text: str) -> list[Remark]:
    return [remark for remark in texts.user_data(text).remarks if not remark.is_note]


#: Of other agents, or filled in later: notes at most.
ELSEWHERE = {
    "talos": "version: v1alpha1\nmachine:\n  type: worker\n  token: abc\ncluster:\n  id: x\n",
    "talos, several documents": "version: v1alpha1\nmachine: {}\n---\napiVersion: v1alpha1\nkind: HostnameConfig\n",
    "kairos": HEAD
    + """\
hostname: node
users:
- name: kairos
  passwd: kairos
  groups: [admin]
install:
  auto: true
  device: auto
stages:
  initramfs:
  - name: Setup
    users: {kairos: {groups: [sudo]}}
k3s: {enabled: true}
write_files:
- path: /etc/motd
  permissions: 0644
  content: hello
""",
    "kairos, templated": HEAD + "hostname: node-{{ trunc 4 .MachineID }}\nusers: 3\n",
    "vyos": HEAD + "vyos_config_commands:\n- set system host-name 'vyos'\nwrite_files: {}\n",
    "cloudbase-init": HEAD
    + """\
set_hostname: win
set_timezone: America/Montevideo
users:
- name: Admin
  primary_group: Users
  inactive: False
  expiredate: 2020-10-01
""",
    "cloudbase-init, PowerShell": "#ps1_sysnative\n$name = 'x'\nWrite-Host: y\n",
    "flatcar, butane": "variant: flatcar\nversion: 1.0.0\npasswd: {users: []}\n",
    "flatcar, coreos-cloudinit": HEAD + "coreos:\n  units: []\nwrite_files:\n- path: /x\n  permissions: 0644\n",
    "ignition": '{"ignition": {"version": "3.3.0"}, "storage": {}}',
    "harvester": "scheme_version: 1\nos:\n  hostname: x\n",
    "routeros": "/ip address add address=10.0.0.1/24 interface=ether1\n",
    "sops": "ENC[AES256_GCM,data:abc,iv:def,tag:ghi,type:str]",
    "sops, values": HEAD + "hostname: ENC[AES256_GCM,data:abc]\nssh_pwauth: ENC[AES256_GCM,data:abc]\n",
    "sops, whole document": "hostname: ENC[AES256_GCM,data:abc]\nsops:\n  mac: ENC[x]\n",
    "helm": HEAD + "users:\n{{- range .Values.users }}\n- name: {{ .name }}\n{{- end }}\n",
    "helm, a value": HEAD + "ssh_pwauth: {{ .Values.pwauth }}\n",
    "jinja": "## template: jinja\n#cloud-config\n{% if x %}\nhostname: {{ v1.x }}\n{% endif %}\n",
    "jinja without its first line": HEAD + "{% set a = 1 %}\nhostname: x\n",
    "flux": HEAD + "ssh_pwauth: ${PWAUTH}\nusers: ${USERS}\npackages:\n- ${PACKAGES}\n",
    "flux, all of it": "${USER_DATA}\n",
    "flux, a header": "${HEADER}\nhostname: x\n",
    "envsubst, lines": HEAD + "users:\n- name: x\n  ${MORE}\n  groups: [a]\n",
    "argocd-vault-plugin": HEAD + "ssh_pwauth: <pwauth>\nusers: <path:kv/data/x#users>\n",
    "at signs": HEAD + "ssh_pwauth: @PWAUTH@\n",
    "underscores": HEAD + "ssh_pwauth: __PWAUTH__\n",
    "script": "#!/bin/bash\nset -e\nusers: x\n",
    "include": "#include\nhttps://example.com/x\n",
    "boothook": "#cloud-boothook\n#!/bin/sh\n",
    "archive": "#cloud-config-archive\n- type: text/cloud-config\n  content: x\n",
    "mime": "Content-Type: multipart/mixed; boundary=x\nMIME-Version: 1.0\n\n--x\nhostname: x\n",
    "a line of text": "hello",
    "blanks": " \n\n",
    "comments alone": "# nothing here\n",
    "a mapping of nobody's": "foo: bar\n",
    "only the head": HEAD,
    "a comment below the head": HEAD + "# nothing yet\n",
}  # fmt: skip


@pytest.mark.parametrize("name", ELSEWHERE)
def test_nothing_is_said_of_what_others_read_or_fill_in(name: str) -> None:
    assert loud(ELSEWHERE[name]) == []


@pytest.mark.parametrize(
    ("text", "check", "line", "words"),
    [
        ("hostname: web\nruncmd: [ls]\n", "first-line", 1, "first line"),
        ("# cloud-config\nhostname: web\n", "first-line", 1, "first line"),
        ("#cloud_config\nusers: [default]\n", "first-line", 1, "first line"),
        ("cloud-config\nusers: [default]\n", "first-line", 1, "first line"),
        ("cloud-config:\nhostname: web\n", "first-line", 1, "first line"),
        ("---\n#cloud-config\nusers: [default]\n", "first-line", 1, "first line"),
        (HEAD + "users:\n  - name: x\n groups: y\n", "yaml", 2, "not YAML"),
        (HEAD + "users:\n- name:\tx\n", "yaml", 3, "tab"),
        (HEAD + "hostname: 'x\n", "yaml", 2, "not YAML"),
        (HEAD + "runcmd: ls\n", "user-data-schema", 2, "runcmd has to be a list"),
        (HEAD + "packages: nginx\n", "user-data-schema", 2, "packages has to be a list"),
        (HEAD + "users:\n- name: x\n  lock_passwd: 'no'\n", "user-data-schema", 4,
         "users[0].lock_passwd has to be true or false"),
        (HEAD + "write_files:\n- content: x\n", "user-data-schema", 3, "write_files[0] lacks path"),
        (HEAD + "write_files:\n- path: /x\n  permission: '0644'\n", "user-data-schema", 3,
         "did you mean permissions?"),
        (HEAD + "write_files:\n- path: /x\n  permissions: 0644\n", "user-data-schema", 4, "a text"),
        (HEAD + "power_state: {mode: restart}\n", "user-data-schema", 2,
         "has to be one of poweroff, reboot, halt"),
        (HEAD + "- hostname: x\n", "user-data-schema", 1, "a mapping"),
        ('{"ignition": {"version": "3.3.0",}}', "ignition", 1, "JSON"),
        (HEAD + "write_files:\n- path: /x\n  content: |\n    echo ${HOME}\nruncmd: ls\n",
         "user-data-schema", 6, "runcmd has to be a list"),
    ],
)  # fmt: skip
def test_what_a_guest_ignores_is_said(text: str, check: str, line: int, words: str) -> None:
    (remark,) = loud(text)
    assert (remark.check, remark.line) == (f"guest/{check}", line)
    assert words in f"{remark.about} {remark.message}"
    assert remark.help


def test_a_number_of_ignition_may_have_many_digits() -> None:
    text = '{"ignition": {"version": "3.3.0"}, "x": %s}' % ("9" * 5000)
    assert texts.ignition(text) == texts.ignition('{"ignition": {"version": "3.3.0"}}')


def test_a_slip_on_top_is_a_note_and_leaves_the_rest_as_it_is() -> None:
    remarks = texts.user_data(HEAD + "runcmds: []\npackages: x\n").remarks
    assert [(remark.check, remark.is_note) for remark in remarks] == [
        ("guest/user-data-schema", False),
        ("guest/unknown-key", True),
    ]
    assert "did you mean runcmd?" in remarks[1].message


def test_a_key_of_another_agents_makes_notes_of_the_rest() -> None:
    remarks = texts.user_data(HEAD + "stages: {}\npackages: x\n").remarks
    assert all(remark.is_note for remark in remarks)
    assert {remark.check for remark in remarks} == {"guest/user-data-schema", "guest/unknown-key"}


@pytest.mark.parametrize(
    ("text", "words", "cure"),
    [
        ("users:\n- name: ops\n  sudoo: x\n", "has a key that cloud-init does not", "write sudo"),
        ("users:\n- nam: ops\n", "lacks name or snapuser; has a key", "write name"),
        ("write_files:\n- content: x\n", "lacks path", "add path"),
        (
            "write_files:\n- path: /x\n  permissions: 0644\n",
            "has to be a text",
            "put it in quotes",
        ),
        (
            "ssh_pwauth: [1]\n",
            "has to be true or false or a text",
            "docs: cloudinit.readthedocs.io; in the guest: cloud-init schema --system",
        ),
    ],
)
def test_what_mends_a_text_is_said_where_it_is_clear(text: str, words: str, cure: str) -> None:
    """That a mapping is no text either says nothing of what is wrong in it."""
    (remark,) = loud(HEAD + text)
    assert remark.message.startswith(words)
    assert remark.help == cure


def test_a_deprecation_has_its_version_and_what_to_use() -> None:
    (remark,) = texts.user_data(HEAD + "ca-certs: {remove_defaults: true}\n").remarks
    assert remark.is_note
    assert "22.3" in remark.message
    assert remark.help == "Use ca_certs instead."


@pytest.mark.parametrize(
    ("text", "unread"),
    [
        ("#!/bin/sh\n", "script"),
        ("## template: jinja\n#cloud-config\n", "template"),
        ("#include\nhttps://x\n", "list of URLs"),
        ("Mime-Version: 1.0\n\n", "MIME message"),
        ("ENC[AES256_GCM,x]", "encrypted text"),
        (HEAD + "users: {{ x }}\n", "template"),
        (HEAD + "a: &a [x, x]\n" + "b: &a [*a, *a, *a, *a]\n" * 20, "large document"),
        (HEAD + "x: " + "[" * 500 + "]" * 500, "large document"),
    ],
)  # fmt: skip
def test_why_a_text_is_not_looked_into_is_known(text: str, unread: str) -> None:
    assert texts.user_data(text) == texts.TextVerdict(unread=unread)


def network(text: str) -> list[str]:
    return [f"{remark.about} {remark.message}" for remark in texts.network_data(text).remarks]


@pytest.mark.parametrize(
    "text",
    [
        "version: 2\nethernets: {eth0: {dhcp4: true}}\n",
        "network: {version: 2, ethernets: {eth0: {dhcp4: yes, wakeonlan: 'true', mtu: '9000'}}}\n",
        "version: 2\nwifis: {}\ntunnels: {}\nethernets: {eth0: {critical: true, new: [1]}}\n",
        "version: 2\nethernets: {eth0: {addresses: [{10.0.0.2/24: {lifetime: 0}}]}}\n",
        "version: 2\nethernets: {eth0: {match: {driver: [ena, virtio]}}}\n",
        "version: 1\nconfig: [{type: physical, name: eth0, subnets: [{type: dhcp}]}]\n",
        "version: 1\nconfig: disabled\n",
        "network: {config: disabled}\n",
        '{"links": [], "networks": [], "services": []}',
        "auto eth0\niface eth0 inet dhcp\n",
        "version: 2\nethernets: {{ toYaml .Values.ethernets }}\n",
        "version: 2\nethernets: {eth0: {mtu: '${MTU}'}}\n",
        "{}\n",
        "",
    ],
)
def test_nothing_is_said_of_network_data_that_guests_take(text: str) -> None:
    assert network(text) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("version: 2\nethernets: {eth0: {addresses: 10.0.0.2/24}}\n", "has to be a list"),
        ("version: 2\nethernets: {eth0: {dhcp4: maybe}}\n", "has to be one of"),
        ("version: 2\nethernets: [eth0]\n", "ethernets has to be a mapping"),
        ("ethernets: {eth0: {dhcp4: true}}\n", "lacks version"),
        ("version: 1\nconfig: [{type: physical, subnets: []}]\n", "lacks name"),
        ("version: 1\nconfig: [{type: physical, name: eth0, mac_address: 52:54:00:12:34:56}]\n",
         "mac_address"),
        ("version: 2\n ethernets: {}\n", "not YAML"),
        ("version: 2\nethernet: {eth0: {dhcp4: true}}\n", "did you mean ethernets?"),
        ("network: {version: 2, vlan: {}, ethernets: {eth0: {dhcp4: true}}}\n", "did you mean vlans?"),
        ("version: 3\nethernets: {eth0: {dhcp4: true}}\n", "version has to be 2"),
    ],
)  # fmt: skip
def test_network_data_that_guests_do_not_take(text: str, words: str) -> None:
    assert any(words in item for item in network(text)), network(text)


def test_addresses_are_those_that_choose_an_interface() -> None:
    text = """\
version: 2
ethernets:
  one: {match: {macaddress: "02:00:00:00:00:0A"}}
  two: {match: {name: en*}, macaddress: "02:00:00:00:00:0b"}
"""
    assert [address[:2] for address in texts.network_data(text).addresses] == [
        ("02:00:00:00:00:0a", 3)
    ]


@pytest.mark.parametrize(
    ("users", "reaches"),
    [
        ("[default, {name: joe}]", True),
        ("[{name: joe}]", False),
        ("[{name: default}]", True),
        ("[]", True),
        ("{joe: {}}", True),
        ("[{name: joe}]\nuser: jane", True),
        ("[{name: joe}]\ndisable_root: false", True),
        ("['${USER}']", True),
    ],
)
def test_who_gets_the_keys_of_the_metadata(users: str, *, reaches: bool) -> None:
    verdict = texts.user_data(f"{HEAD}users: {users}\n")
    assert verdict.reaches_default_user is reaches


@pytest.mark.parametrize(
    ("text", "checks"),
    [
        ("<?xml version='1.0' encoding='utf-8'?>\n<unattend><a/></unattend>", []),
        ("<?xml version='1.0' encoding='utf-16'?><unattend/>", []),
        ("<unattend><a></unattend>", ["guest/sysprep-xml"]),
        ("", ["guest/sysprep-xml"]),
        ("<unattend><Value>{{ password }}</a></unattend>", []),
        ("<!DOCTYPE x [<!ENTITY a 'b'>]><x>&a;</x>", []),
    ],
)
def test_answer_files_are_xml(text: str, checks: list[str]) -> None:
    assert [remark.check for remark in texts.answer_file(text).remarks] == checks


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "canary_key: 1\nusers:\n- name: canary\n  lock_passwd: canary\n  canary: canary\n",
        HEAD + "chpasswd: {list: [canary], canary: canary}\nssh_pwauth: [canary]\n",
        HEAD + "write_files: [canary]\nbootcmd: canary\nntp: {servers: [[canary]]}\n",
        HEAD + "apt: {sources: {canary: {source: [canary], canary: 1}}, canary: 1}\n",
        HEAD + "canary: [\n",
        HEAD + "x: !canary y\n",
        HEAD + "x: *canary\n",
        HEAD + "'canary\n",
        "canary: 1\nhostname: canary\n",
        '{"ignition": canary}',
    ],
)
def test_no_remark_has_a_word_of_the_text(text: str) -> None:
    """But for names that cloud-init's schemas have."""
    assert "canary" not in repr(texts.user_data(text))


@pytest.mark.parametrize(
    "text",
    [
        "version: 2\nethernets: {canary: {dhcp4: canary, addresses: canary}}\n",
        "version: 1\nconfig: [{type: canary, name: canary}, canary]\n",
        "version: canary\nethernets: canary\n",
        "version: 2\nethernet: canary\ncanary: {}\n",
    ],
)
def test_no_remark_has_a_word_of_network_data(text: str) -> None:
    assert "canary" not in repr(texts.network_data(text))
