#!/bin/sh
# foretop @VERSION@ in one file: this script, then the archive that it unpacks once into the user's cache folder.
# FORETOP_BUNDLE_DIR names another folder; it must not be on a file system that is mounted noexec.
set -eu
id='@ID@'
if [ -n "${FORETOP_BUNDLE_DIR:-}" ]; then root=$FORETOP_BUNDLE_DIR
elif [ -n "${XDG_CACHE_HOME:-}" ]; then root=$XDG_CACHE_HOME/foretop/bundle
elif [ -n "${HOME:-}" ]; then root=$HOME/.cache/foretop/bundle
else root=/var/tmp/foretop-$(id -u)
fi
fail() { echo "foretop: $1" >&2; exit 2; }
home=$root/$id
if [ ! -e "$home/ready" ]; then
    (umask 077 && mkdir -p "$root") || fail "cannot create $root (set FORETOP_BUNDLE_DIR)"
    [ -O "$root" ] || fail "$root belongs to another user (set FORETOP_BUNDLE_DIR)"
    draft=$(mktemp -d "$root/.draft.XXXXXX") || fail "cannot write to $root (set FORETOP_BUNDLE_DIR)"
    trap 'rm -rf "$draft"' EXIT INT TERM HUP
    tail -c +@OFFSET@ "$0" | tar -xzf - -C "$draft" || fail "cannot unpack into $root (is the disk full?)"
    "$draft/bin/python3" -I -c '' >/dev/null 2>&1 ||
        fail "$root cannot run programs, or the C library is older than glibc @GLIBC@ (set FORETOP_BUNDLE_DIR)"
    : > "$draft/ready"
    # Of two first starts at once, one wins; the other's copy goes away with its draft.
    mv -T "$draft" "$home" 2>/dev/null || [ -e "$home/ready" ] || mv "$draft" "$home" || fail "cannot write $home"
    for other in "$root"/* "$root"/.draft.*; do
        if [ -d "$other" ] && [ "$other" != "$home" ] && [ "$other" != "$draft" ]; then
            # shellcheck disable=SC2010
            ls -l /proc/[0-9]*/exe 2>/dev/null | grep -qF "$other/" || rm -rf "$other"
        fi
    done
    rm -rf "$draft"
    trap - EXIT INT TERM HUP
fi
[ -x "$home/bin/python3" ] || fail "$home is damaged (remove it)"
exec "$home/bin/python3" -I -m foretop "$@"
