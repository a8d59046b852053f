#!/bin/sh
# Checks the units with systemd-analyze, in a folder laid out as on a machine that runs them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
command -v systemd-analyze >/dev/null || {
    echo "systemd-analyze is missing: apt-get install systemd" >&2
    exit 2
}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/etc/systemd/system" "$root/usr/bin" "$root/bin" "$root/opt/registry" \
    "$root/etc/registry" "$root/usr/lib/systemd"
cp "$here"/systemd/*.service "$here"/systemd/*.timer "$root/etc/systemd/system/"
cp "$here/systemd/registry.env.example" "$root/etc/registry/registry.env"
# The units of systemd itself, and programs under the names that ours call.
cp -r /usr/lib/systemd/system "$root/usr/lib/systemd/" 2>/dev/null || cp -r /lib/systemd/system "$root/usr/lib/systemd/"
for program in usr/bin/node bin/sh; do
    cp /bin/true "$root/$program"
done
said=$(systemd-analyze verify --root="$root" --man=no --recursive-errors=no \
    registry.service registry-backup.service registry-backup.timer \
    registry-verify.service registry-verify.timer 2>&1) || {
    echo "$said" >&2
    exit 1
}
[ -z "$said" ] || { echo "$said" >&2; exit 1; }
systemd-analyze calendar '*-*-* 02:15:00' 'Sun *-*-* 04:15:00' >/dev/null
exposure=$(systemd-analyze security --offline=true --root="$root" --no-pager registry.service |
    grep 'Overall exposure')
echo "The units are in order. $exposure"
