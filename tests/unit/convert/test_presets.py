"""The instancetype and preference that a preset is advised to become."""

from render.convert.presets import FROM_THE_VM, Replacement, replacement


def test_a_topology_of_one_dimension_is_a_number_and_a_preference() -> None:
    assert replacement({"cpu": {"cores": 4, "sockets": 1, "model": "host-model"}}) == Replacement(
        {"cpu": {"guest": 4, "model": "host-model"}, "memory": {"guest": FROM_THE_VM}},
        {"cpu": {"preferredCPUTopology": "cores"}},
        (),
    )


def test_sockets_need_no_preference_and_memory_comes_from_the_request() -> None:
    domain = {"cpu": {"sockets": 2}, "resources": {"requests": {"memory": "8Gi"}}}
    assert replacement(domain) == Replacement(
        {"cpu": {"guest": 2}, "memory": {"guest": "8Gi"}}, None, ()
    )


def test_what_neither_can_say_is_named() -> None:
    domain = {
        "cpu": {"cores": 2, "threads": 2},
        "firmware": {"serial": "1", "bootloader": {"bios": {"useSerial": True}}},
        "devices": {"watchdog": {"name": "dog"}},
        "resources": {"requests": {"example.com/gpu": "1"}},
        "features": {"hypervPassthrough": {"enabled": True}, "smm": {}},
    }
    made = replacement(domain)
    assert made.instancetype == {"cpu": {"guest": 4}, "memory": {"guest": FROM_THE_VM}}
    assert made.preference == {
        "features": {"preferredSmm": {}},
        "firmware": {"preferredUseBios": True, "preferredUseBiosSerial": True},
    }
    assert made.left == (
        "cpu.cores", "cpu.threads", "resources.requests[example.com/gpu]",
        "features.hypervPassthrough", "firmware.serial", "devices.watchdog",
    )  # fmt: skip
