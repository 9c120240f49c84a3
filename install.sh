#!/bin/sh
# install.sh - installs ralph for this user, without root:
#
#	sh install.sh              # the newest release, into ~/.local
#	PREFIX=/opt/ralph VERSION=1.2.3 sh install.sh
#
# It downloads the archive for this machine, compares it with the release's checksums, checks their
# signature if minisign is installed, tries the program, and only then puts the files below PREFIX. What fails is one line, and changes
# nothing. To uninstall: sh install.sh --uninstall. RALPH_URL names the place of the releases.
set -eu

url=${RALPH_URL:-} # a release writes its own address here
key=${RALPH_KEY:-} # and its public key, of minisign, here
prefix=${PREFIX:-$HOME/.local}
version=${VERSION:-}
work=

fail() {
	echo "install.sh: $*" >&2
	exit 1
}
# clean takes away what was begun: copies, and the folders that were made for them.
# shellcheck disable=SC2317 # called by trap
clean() {
	[ -n "$work" ] || return 0
	if [ -e "$work/missing" ]; then
		while IFS='|' read -r _ target _; do rm -f "$target.new"; done <"$work/list"
		while read -r dir; do rmdir "$dir" 2>/dev/null || true; done <"$work/missing"
	fi
	rm -rf "$work"
}
# shellcheck disable=SC2317 # called by trap
interrupted() {
	echo "install.sh: interrupted; nothing was changed" >&3
	exit "$1"
}
exec 3>&2 # where the errors of a command are hidden, too
trap clean EXIT
trap 'interrupted 130' INT
trap 'interrupted 143' TERM HUP

fetch() { # URL FILE
	if command -v curl >/dev/null; then
		curl -fsSL --connect-timeout 20 --speed-limit 1 --speed-time 30 -o "$2" "$1" 2>/dev/null
	elif command -v wget >/dev/null; then
		wget -q -T 20 -t 2 -O "$2" "$1" 2>/dev/null
	else
		fail "needs curl or wget"
	fi
}

sha256() {
	if command -v sha256sum >/dev/null; then
		sha256sum "$1"
	else
		shasum -a 256 "$1"
	fi | cut -d ' ' -f 1
}

folders="bin share/man/man1 share/bash-completion/completions share/zsh/site-functions share/fish/vendor_completions.d"

# files lists what belongs to ralph, below the prefix.
files() {
	for name in ralph ralph-hub ralph-status ralph-monitor; do echo "bin/$name"; done
	(cd "$prefix/share/man/man1" 2>/dev/null && ls ralph.1 ralph-*.1 2>/dev/null | sed 's|^|share/man/man1/|') || true
	echo share/bash-completion/completions/ralph
	echo share/zsh/site-functions/_ralph
	echo share/fish/vendor_completions.d/ralph.fish
}

# foreign reports whether another program called ralph is in the way. It is not run: it might
# start to work.
foreign() { [ -e "$prefix/bin/ralph" ] && ! grep -q ralph/cmd/internal/cli "$prefix/bin/ralph"; }

case ${1:-} in
"") ;;
--uninstall)
	! foreign || fail "$prefix/bin/ralph is another program, and was left alone"
	trap '' INT TERM HUP # all of it, or nothing
	files | while read -r file; do rm -f "$prefix/$file"; done
	for folder in $folders; do (cd "$prefix" && rmdir -p "$folder") 2>/dev/null || true; done # those that are empty
	echo "removed ralph from $prefix"
	exit 0
	;;
*) fail "unknown argument $1; it takes none, or --uninstall" ;;
esac

[ -n "$url" ] || fail "set RALPH_URL to the address of the releases; the install.sh of a release knows it"
case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
*) fail "ralph does not run on $(uname -s); it needs Linux, macOS or WSL2" ;;
esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) fail "no release for the processor $(uname -m); build ralph with: make install" ;;
esac

work=$(mktemp -d 2>/dev/null) || fail "cannot make a temporary folder in ${TMPDIR:-/tmp}; nothing was changed"
list=$work/list
: >"$list" >"$work/missing"
# Of each folder, what exists of its path must be a folder that this user may write to.
for folder in $folders; do
	dir=$prefix/$folder
	while [ ! -e "$dir" ]; do
		echo "$dir" >>"$work/missing"
		dir=$(dirname "$dir")
	done
	if [ ! -d "$dir" ] || [ ! -w "$dir" ]; then
		fail "cannot write to $dir; choose another folder, as in: PREFIX=~/ralph sh install.sh"
	fi
done
! foreign || fail "$prefix/bin/ralph is another program, and was left alone; move it, or choose another folder: PREFIX=~/ralph sh install.sh"

if [ -z "$version" ]; then
	fetch "$url/latest/download/checksums.txt" "$work/checksums.txt" || fail "cannot reach $url; nothing was changed"
	version=$(sed -n "s/.* ralph_\(.*\)_${os}_$arch\.tar\.gz\$/\1/p" "$work/checksums.txt" | head -n 1)
	[ -n "$version" ] || fail "the newest release has no archive for $os on $arch; nothing was changed"
else
	version=${version#v}
	fetch "$url/download/v$version/checksums.txt" "$work/checksums.txt" ||
		fail "cannot get version $version from $url; nothing was changed"
fi
archive=ralph_${version}_${os}_$arch.tar.gz
fetch "$url/download/v$version/$archive" "$work/$archive" || fail "cannot get $archive from $url; nothing was changed"

if [ -z "$key" ]; then
	checked="only its checksum was checked: this install.sh has no key"
elif ! command -v minisign >/dev/null; then
	checked="only its checksum was checked: minisign is not installed"
else
	fetch "$url/download/v$version/checksums.txt.minisig" "$work/checksums.txt.minisig" ||
		fail "version $version has no signature; it was not installed"
	minisign -Vqm "$work/checksums.txt" -P "$key" </dev/null >/dev/null 2>&1 ||
		fail "the signature of version $version is not by $key; it was not installed"
	checked="its signature is good"
fi
want=$(sed -n "s/^\([0-9a-f]\{64\}\)  $archive\$/\1/p" "$work/checksums.txt")
[ -n "$want" ] || fail "checksums.txt of version $version does not name $archive; nothing was changed"
[ "$(sha256 "$work/$archive")" = "$want" ] ||
	fail "$archive does not have the checksum of the release; it was not installed"

tar -C "$work" -xzf "$work/$archive" 2>/dev/null || fail "$archive cannot be unpacked; nothing was changed"
from=$work/ralph_${version}_${os}_$arch
said=$("$from/ralph" --version 2>&1) || fail "the downloaded program does not run here: $said"

before=
if [ -x "$prefix/bin/ralph" ]; then before=$("$prefix/bin/ralph" --version 2>/dev/null || echo "ralph of an unknown version"); fi

# Everything is copied before the first file is replaced, so that a full disk changes nothing.
add() { echo "$from/$1|$prefix/$2|$3" >>"$list"; } # SOURCE TARGET MODE
add ralph bin/ralph 755
add ralph-hub bin/ralph-hub 755
for page in "$from"/man/*.1; do add "man/${page##*/}" "share/man/man1/${page##*/}" 644; done
add completions/ralph.bash share/bash-completion/completions/ralph 644
add completions/_ralph share/zsh/site-functions/_ralph 644
add completions/ralph.fish share/fish/vendor_completions.d/ralph.fish 644
while IFS='|' read -r source target mode; do
	{ mkdir -p "$(dirname "$target")" && cp "$source" "$target.new" && chmod "$mode" "$target.new"; } 2>/dev/null ||
		fail "cannot write $target; nothing was changed"
done <"$list"
trap '' INT TERM HUP # all of it, or nothing
while IFS='|' read -r _ target _; do mv -f "$target.new" "$target"; done <"$list"
ln -sf ralph "$prefix/bin/ralph-status"
ln -sf ralph "$prefix/bin/ralph-monitor"

echo "installed $said in $prefix${before:+; before, it was $before}; $checked"
case :$PATH: in
*":$prefix/bin:"*) ;;
*) echo "add it to your PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
