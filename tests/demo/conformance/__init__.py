"""What foretop needs from an API server, as tests that can run against any server.

Each module has classes without the prefix that pytest collects; `tests/wire` derives them for the minicluster and
`tests/real` for a real kube-apiserver, each with its own fixture `api`.
"""
