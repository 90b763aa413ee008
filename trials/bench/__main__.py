"""`python -m trials.bench`: every figure with its goal."""

from __future__ import annotations

from trials.bench import cron, long_strings, many_tenants, minicluster_load, protection, scenes, table, triage, volumes

MODULES = (cron, table, triage, protection, volumes, long_strings, minicluster_load, scenes, many_tenants)


def main() -> None:
    for module in MODULES:
        for figure in module.measure():
            print(figure.line())


if __name__ == "__main__":
    main()
