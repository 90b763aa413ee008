"""The way to the clusters: kubeconfig and contexts, the raw client, the reflector, access reviews."""
