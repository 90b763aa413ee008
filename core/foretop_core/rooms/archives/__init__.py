"""Archives of clusters, read as if they were the clusters: debug bundles, must-gathers, what kubectl prints."""
