"""What the guest boots with: cloud-init's user data and network data, Ignition, sysprep, SSH keys.

`engine` answers as cloud-init does; `texts` says less, as `check` does, and only of what it is sure of. `volumes` finds
the texts of a VM. jsonschema is the engine, asked where `conformity` is not sure, and imported nowhere else.
"""
