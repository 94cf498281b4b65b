"""Typed normalisation: what a round trip through KubeVirt's Go types makes of a JSON tree."""

from render.schemas.decode import decode, decode_resource, located, questioned
from render.schemas.encode import encode

__all__ = ["decode", "decode_resource", "encode", "located", "questioned"]
