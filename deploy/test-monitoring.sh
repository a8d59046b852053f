#!/bin/sh
# Checks the alarms and the scrape settings with promtool (Debian's package prometheus).
set -eu
cd "$(dirname "$0")/monitoring"
command -v promtool >/dev/null || {
    echo "promtool is missing: apt-get install prometheus" >&2
    exit 2
}
promtool check rules alerts.yml
promtool test rules alerts.test.yml
promtool check config --syntax-only prometheus.yml
