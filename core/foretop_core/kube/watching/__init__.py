"""List and watch for each kind and namespace, retried after every failure."""
