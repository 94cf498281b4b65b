"""Whether a namespace has room for pods: quotas, LimitRanges, Pod Security; each in Kubernetes' own words."""
