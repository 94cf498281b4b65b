"""``python -m render``: the same as the command ``virt-render``."""

from render.frontends.dispatch import main

main()
