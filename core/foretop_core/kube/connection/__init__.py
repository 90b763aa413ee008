"""How one cluster is reached: the kubeconfig, signing in, the transport and the client on top of them."""
