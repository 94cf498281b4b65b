"""Typed normalisation: what a round trip through KubeVirt's Go types makes of a JSON tree."""

from render.schemas.decode import decode, decode_resource
from render.schemas.encode import encode
from render.schemas.problems import Problem

__all__ = ["Problem", "decode", "decode_resource", "encode"]
