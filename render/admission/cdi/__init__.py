"""What the containerized data importer refuses, in whose names KubeVirt asks for disks."""
