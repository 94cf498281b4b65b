"""Text to trees and back, by the rules of kubectl and not those of a YAML library."""
