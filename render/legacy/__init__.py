"""What no release serves any more, made an object of today at the door: machines, their flavours, flavors, presets."""
