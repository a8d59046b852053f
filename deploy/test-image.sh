#!/bin/sh
# Builds the image and runs it: as a user that is not root, on a root file system that cannot be
# written, with the data in a volume; stops it, starts it again, and finds the data.
# Needs root, and Debian's buildah and mmdebstrap. A base image is made with mmdebstrap and this
# machine's own Node; BASE_TAR names one that was kept from an earlier run.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
for tool in buildah mmdebstrap curl unshare nsenter setpriv; do
    command -v "$tool" >/dev/null || { echo "$tool is missing (apt-get install $tool)" >&2; exit 2; }
done
[ "$(id -u)" = 0 ] || { echo "Needs root, to make a base and to mount." >&2; exit 2; }
work=$(mktemp -d)
port=${PORT:-3917}
pid=
container=
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
buildah() { command buildah --root "$work/storage" --runroot "$work/run" "$@"; }
finish() {
    [ -z "$pid" ] || kill -TERM "$pid" 2>/dev/null || true
    [ -z "$pid" ] || wait "$pid" 2>/dev/null || true
    [ -z "$container" ] || buildah umount "$container" >/dev/null 2>&1 || true
    rm -rf "$work"
}
trap finish EXIT

base=${BASE_TAR:-$work/base.tar}
[ -f "$base" ] || mmdebstrap --variant=minbase --include=ca-certificates,libstdc++6,libatomic1 \
    "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$base"
scratch=$(buildah from scratch)
buildah add "$scratch" "$base" / >/dev/null
buildah copy "$scratch" "$(readlink -f "$(command -v node)")" /usr/local/bin/node >/dev/null
buildah commit --quiet --rm "$scratch" localhost/base >/dev/null

"$here/prepare.sh" "$work/context"
buildah build --quiet --build-arg BASE=localhost/base -f "$here/Containerfile" \
    -t localhost/registry "$work/context" >/dev/null
image=$(buildah inspect --type image --format '{{.OCIv1.Config.User}} {{.OCIv1.Config.Cmd}}' localhost/registry)
echo "Built: $image"
container=$(buildah from localhost/registry)
rootfs=$(buildah mount "$container")
mkdir -p "$work/volume" "$rootfs/var/lib/registry" "$rootfs/proc" "$rootfs/dev"
chown 10001:10001 "$work/volume"
chmod 700 "$work/volume"

config() { buildah inspect --type image --format "$1" localhost/registry; }
config '{{range .OCIv1.Config.Env}}{{println .}}{{end}}' | grep . >"$work/env"
config '{{range .OCIv1.Config.Entrypoint}}{{println .}}{{end}}{{range .OCIv1.Config.Cmd}}{{println .}}{{end}}' |
    grep . >"$work/command"
folder=$(config '{{.OCIv1.Config.WorkingDir}}')

# What a container runtime does for --read-only --user --volume, in a namespace of its own.
cat >"$work/start" <<'END'
set -eu
rootfs=$1 volume=$2 folder=$3 work=$4 port=$5
mount --bind "$rootfs" "$rootfs"
mount --bind "$volume" "$rootfs/var/lib/registry"
mount --rbind /dev "$rootfs/dev"
mount --rbind /proc "$rootfs/proc"
mount -o remount,bind,ro "$rootfs"
set -- $(cat "$work/env") "PORT=$port" HOST=127.0.0.1 REGISTRY_LOG_LEVEL=warn $(cat "$work/command")
exec setpriv --no-new-privs chroot --userspec=10001:10001 --groups= "$rootfs" \
    /usr/bin/env -i "--chdir=$folder" "$@"
END
start() {
    : >"$work/log"
    unshare --mount sh "$work/start" "$rootfs" "$work/volume" "$folder" "$work" "$port" \
        >"$work/log" 2>&1 &
    pid=$!
    waited=0
    until grep -q '^  API ' "$work/log"; do
        kill -0 "$pid" 2>/dev/null || { cat "$work/log" >&2; exit 1; }
        waited=$((waited + 1))
        [ "$waited" -lt 1200 ] || { echo "It does not come up." >&2; cat "$work/log" >&2; exit 1; }
        sleep 0.5
    done
}
stop() {
    kill -TERM "$pid"
    wait "$pid" || { echo "It did not stop with 0." >&2; cat "$work/log" >&2; exit 1; }
    pid=
}
ask() { curl -sS -H 'Version: 2.0' -H 'Content-Type: application/json' "$@"; }
url=http://127.0.0.1:$port

start
owner=$(stat -c %u "/proc/$pid")
[ "$owner" = 10001 ] || { echo "It runs as $owner." >&2; exit 1; }
nsenter --target "$pid" --mount -- sh -c "! touch '$rootfs/opt/registry/written' 2>/dev/null" ||
    { echo "Its root file system can be written." >&2; exit 1; }
password=$(sed -n 's/^  First user admin, password //p' "$work/log")
token=$(ask "$url/User/Login" -d "{\"username\":\"admin\",\"password\":\"$password\"}" |
    sed 's/.*"accessToken":"\([^"]*\)".*/\1/')
ask "$url/Product" -H "Authorization: $token" -d '{"name":"In a volume"}' | grep -q '"result":true'
stop
start
ask "$url/Product" -H "Authorization: $token" | grep -q 'In a volume' ||
    { echo "The data is gone." >&2; exit 1; }
stop
echo "The image runs as user 10001 on a read-only root, stops with 0, and keeps its data."
