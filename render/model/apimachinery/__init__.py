"""What Go and k8s.io/apimachinery make of text: quantities, durations, names, labels, selectors, addresses."""
