"""What foretop relies on in an API server, as tests that any server can be put to.

Each module holds classes without the prefix that pytest looks for; `tests/wire` derives them for the minicluster and
`tests/real` for a real kube-apiserver, each with its own fixture `api`.
"""
