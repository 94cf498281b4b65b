"""``virt-render lsp``: a language server, which says while somebody types what `check` would say."""
