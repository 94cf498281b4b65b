"""The commands for people, a module each: of what was read and rendered each makes an `Answer`."""
