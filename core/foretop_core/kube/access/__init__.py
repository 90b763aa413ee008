"""Access of a person: permissions, namespaces, where Velero is, and the lines of doctor."""
