"""Mints the API keys of the three identities that birdstrike uses with MCP Hangar.

Run it with the Python of the environment that Hangar is installed in, before the gateway starts:

    python mint_keys.py AUTH_DB

AUTH_DB is `auth.storage.path` of the config. Prints one JSON object, identity to key, on stdout and
nothing else there; the database itself holds only hashes. No command line of Hangar makes a key with
a tenant, and a front door serves nothing to a caller without one.
"""

import contextlib
import json
import sys

from mcp_hangar.auth.infrastructure.sqlite_store import SQLiteApiKeyStore

IDENTITIES = {"alice": "A", "bob": "B", "carol": "A"}


def mint(auth_db: str) -> dict[str, str]:
    store = SQLiteApiKeyStore(auth_db)
    try:
        store.initialize()
        return {
            name: store.create_key(principal_id=f"svc:{name}", name=name, tenant_id=tenant)
            for name, tenant in IDENTITIES.items()
        }
    finally:
        store.close()


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: mint_keys.py AUTH_DB", file=sys.stderr)
        return 2
    # Hangar's own log lines go to stdout by default; stdout is for the keys alone.
    with contextlib.redirect_stdout(sys.stderr):
        keys = mint(sys.argv[1])
    print(json.dumps(keys))
    return 0


if __name__ == "__main__":
    sys.exit(main())
