"""What a person may see and do: permissions, namespaces, where Velero is, and the lines of doctor."""
