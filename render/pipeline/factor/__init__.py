"""Rendering backwards: the instancetypes and preferences of VMs that spell everything out."""
