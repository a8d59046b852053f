#!/bin/sh
# Makes the folder that the image is built from: what runs, and nothing that only builds or tests.
# Usage: deploy/prepare.sh FOLDER
set -eu
[ $# -eq 1 ] || { echo "Usage: $0 FOLDER" >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1/app" "$1/etc"
target=$(cd "$1" && pwd)
# Installs and builds here, as a start would.
(cd "$root" && node scripts/run.mjs operations/cli/cli --version >/dev/null)
for part in package.json package-lock.json .npmrc dist migrations scale-out LICENSE NOTICE; do
    cp -r "$root/$part" "$target/app/"
done
(cd "$target/app" && npm ci --omit=dev --ignore-scripts --no-audit --no-fund --silent)
rm -f "$target/app/dist/.lock" "$target/app/.npmrc"
# The built-in PostgreSQL wants links that npm does not keep; later the folder cannot be written.
(cd "$target/app" && node --input-type=module -e '
  const { locateBinaries, restoreLinks } = await import("./dist/platform/embedded/binaries.js")
  if (!restoreLinks(locateBinaries())) process.exit(1)')
chmod -R a+rX,go-w "$target/app"
cat >"$target/etc/passwd" <<'END'
root:x:0:0:root:/root:/usr/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
registry:x:10001:10001:registry:/var/lib/registry:/usr/sbin/nologin
END
cat >"$target/etc/group" <<'END'
root:x:0:
nogroup:x:65534:
registry:x:10001:
END
echo "Made $target."
