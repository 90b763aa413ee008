#!/bin/sh
# foretop @VERSION@ in one file: this script, then the archive that it unpacks once into the user's cache folder.
# FORETOP_BUNDLE_DIR names another folder, on a file system that may run programs. Of either, only foretop-bundle-UID
# inside is touched, and only if this script made it.
set -eu
id='@ID@'
uid=$(id -u)
own='set FORETOP_BUNDLE_DIR to a folder of your own'
if [ -n "${FORETOP_BUNDLE_DIR:-}" ]; then given=$FORETOP_BUNDLE_DIR
elif [ -n "${XDG_CACHE_HOME:-}" ]; then given=$XDG_CACHE_HOME
elif [ -n "${HOME:-}" ]; then given=$HOME/.cache
else given=/var/tmp
fi
fail() { echo "foretop: $1" >&2; exit 2; }

# check FOLDER [PATH...]: nobody but root and this user can put anything into FOLDER, its parents or the PATHs below it.
# Two exceptions on the way to FOLDER: a sticky folder such as /tmp, and whatever is inside a folder that others cannot enter.
check() {
    rest=${1#/} path=
    shift
    inside=$#
    set -- / "$@"
    while [ -n "$rest" ]; do
        path=$path/${rest%%/*}
        case $rest in */*) rest=${rest#*/} ;; *) rest= ;; esac
        [ -e "$path" ] || [ -L "$path" ] || break
        set -- "$@" "$path"
    done
    # One listing, sorted: each folder comes after its parent.
    LC_ALL=C ls -ldn -- "$@" 2>/dev/null | {
        left=$# private=no
        while read -r mode _ owner _ _ _ _ _ path; do
            left=$((left - 1))
            [ "$owner" = 0 ] || [ "$owner" = "$uid" ] || fail "$path belongs to another user ($own)"
            case $mode in l*)
                [ "$left" -ge "$inside" ] || fail "$path is a link (remove it, or $own)"
                continue
            esac
            case $private$mode in no?????w*|no????????w*)
                case $mode in ?????????[tT]*) sticky=yes ;; *) sticky=no ;; esac
                [ "$sticky" = yes ] && [ "$left" -ge "$inside" ] ||
                    fail "other users can write to $path (chmod go-w it, or $own)"
            esac
            case $mode in d?????[-S]??[-T]*) private=yes ;; esac
        done
        [ "$left" = 0 ] || fail "cannot list the folders on the way to $given ($own)"
    } || exit 2
}

unpack() {
    check "$way"
    # A copy that was cut short would unpack in part.
    [ "$(wc -c < "$0")" -eq @SIZE@ ] || fail "$0 is not complete (copy it again)"
    (umask 077 && mkdir "$root") 2>/dev/null || [ -d "$root" ] || fail "cannot create $root ($own)"
    check "$way" "$root"
    if [ ! -f "$root/made-by-foretop" ]; then
        # Of two first starts at once, each may find the folder of the other still empty.
        [ -z "$(ls -A "$root" 2>&1)" ] || [ -f "$root/made-by-foretop" ] ||
            fail "$root was not made by foretop (remove it, or $own)"
        { echo 'The folders in here are made and removed by the bundle of foretop.' > "$root/made-by-foretop"; } 2>/dev/null ||
            fail "cannot write to $root ($own)"
    fi
    for old in "$root/.draft+$host+"*; do
        pid=${old#"$root/.draft+$host+"}
        if [ -d "$old" ] && ! [ -L "$old" ] && ! kill -0 "${pid%%+*}" 2>/dev/null; then rm -rf "$old"; fi
    done
    draft=$(mktemp -d "$root/.draft+$host+$$+XXXXXX" 2>/dev/null) || fail "cannot write to $root ($own)"
    trap 'rm -rf "$draft"' EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    {
        tail -c +@OFFSET@ "$0" | tar -xzf - -C "$draft" && mkdir "$draft/used-by" && echo > "$draft/used-by/$host" &&
            echo "$id @ORDER@" > "$draft/ready"
    } 2>/dev/null || fail "cannot unpack @MEGABYTES@ MB into $root: is the disk full? (make room, or $own)"
    "$draft/bin/python3" -I -c '' >/dev/null 2>&1 ||
        fail "$root cannot run programs, or the C library is older than glibc @GLIBC@ ($own)"
    # Of two first starts at once, one wins; the other's copy goes away with its draft. A mv that does not know -T would
    # put it inside.
    mv -T "$draft" "$home" 2>/dev/null || [ -e "$home/ready" ] || { [ ! -e "$home" ] && mv "$draft" "$home" 2>/dev/null; } ||
        fail "$home is damaged (remove it)"
    rm -rf "$draft" "$home/${draft##*/}"
    for old in "$root"/*; do
        if is_older "$old" && mv "$old" "$draft" 2>/dev/null; then rm -rf "$draft"; fi
    done
    trap - EXIT HUP INT TERM
}

# is_older TREE: it was unpacked by this script for an older version, and no process of this or another machine runs it.
is_older() {
    [ "$1" != "$home" ] && [ -d "$1" ] && ! [ -L "$1" ] && [ -O "$1" ] && [ -f "$1/ready" ] || return 1
    read -r name order < "$1/ready" || return 1
    [ "$name" = "${1##*/}" ] && [ "$order" -le @ORDER@ ] 2>/dev/null || return 1
    for user in "$1"/used-by/*; do [ "${user##*/}" = "$host" ] || return 1; done
    [ -e /proc/self/exe ] || return 1
    # shellcheck disable=SC2010
    ! ls -l /proc/[0-9]*/exe 2>/dev/null | grep -qF "$1/"
}

case $given in
    *'
'*) fail "the folder's name has a line break ($own)" ;;
    /*) ;;
    *) given=$(pwd -P)/$given ;;
esac
if [ ! -d "$given" ]; then
    check "$given"
    (umask 077 && mkdir -p "$given") 2>/dev/null || fail "cannot create $given ($own)"
fi
way=$(CDPATH='' cd "$given" 2>/dev/null && pwd -P) || fail "cannot enter $given ($own)"
[ "$way" = "$given" ] || check "$given"
root=${way%/}/foretop-bundle-$uid
home=$root/$id
host=
read -r host < /proc/sys/kernel/hostname 2>/dev/null || :
case $host in ''|*[!A-Za-z0-9._-]*) host=unnamed ;; esac
[ -e "$home/ready" ] || unpack
[ -x "$home/bin/python3" ] && [ -d "$home/lib" ] || fail "$home is damaged (remove it)"
check "$way" "$root" "$home" "$home/ready" "$home/bin" "$home/bin/python3" "$home/lib" "$home"/lib/*
[ -e "$home/used-by/$host" ] || { echo > "$home/used-by/$host"; } 2>/dev/null || :
exec "$home/bin/python3" -I -m foretop "$@"
