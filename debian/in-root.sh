#!/bin/sh
# in-root.sh SUITE test      runs the test command in a fresh root of Debian SUITE
# in-root.sh SUITE packages  builds the packages in one fresh root, and installs, uses and removes
#                            them in another; they stay in debian/SUITE
#
# It tries what is committed. It needs mmdebstrap, root and the network, and takes some ten minutes.
set -eu
[ $# -eq 2 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 64; }
suite=$1
tree=$(CDPATH='' cd "$(dirname "$0")/.." && pwd)
export tree suite

# in_root PACKAGES HOOK: HOOK runs outside of the root, with the root's path as $1; /src is the source.
# The machine's name has an address, as in an installed Debian.
in_root()
{
  mmdebstrap --quiet --format=null --variant=apt --dpkgopt=force-unsafe-io --include="$1" \
    --customize-hook='printf "127.0.0.1 localhost\n127.0.1.1 %s\n" "$(hostname)" >>"$1/etc/hosts"' \
    --customize-hook='git clone -q "$tree" "$1/src"' --customize-hook="$2" "$suite" /dev/null
}

case $2 in
  test)
    in_root ca-certificates,git 'chroot "$1" sh -c "cd /src && ./recline test"'
    ;;
  packages)
    mkdir -p "$tree/debian/$suite"
    in_root build-essential 'chroot "$1" sh -c "cd /src &&
        apt-get -qq -y --no-install-recommends build-dep . && dpkg-buildpackage -us -uc -b" &&
      cp "$1"/*.deb "$tree/debian/$suite"'
    in_root ca-certificates 'cp "$tree/debian/$suite"/*.deb "$1/" && chroot "$1" sh -c "
        apt-get -qq -y --no-install-recommends install /*.deb cmake make pkgconf perl \
          clang lld wasi-libc patch &&
        (cd /src && RECLINE_BUILD=/usr/lib/recline RECLINE_PREFIX=/usr command/t/install.t) &&
        apt-get -qq -y purge recline librecline-dev recline-doc &&
        ! ls -d /usr/lib/recline /usr/share/recline /usr/include/recline /usr/bin/recline*"'
    ;;
  *)
    echo "in-root.sh: \"$2\", expected test or packages" >&2
    exit 64
    ;;
esac
