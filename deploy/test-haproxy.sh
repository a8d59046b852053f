#!/bin/sh
# Starts PostgreSQL's own kind of registry with two nodes behind HAProxy, calls through it without a
# pause while one node after the other is stopped and started again, and counts what failed: nothing
# may. Needs Debian's haproxy, and DATABASE_URL of an empty database to be thrown away.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
command -v haproxy >/dev/null || { echo "haproxy is missing: apt-get install haproxy" >&2; exit 2; }
[ -n "${DATABASE_URL:-}" ] || {
    echo "DATABASE_URL must name an empty database that may be thrown away." >&2
    exit 2
}
cd "$root"
exec node --import tsx deploy/test-haproxy.ts
