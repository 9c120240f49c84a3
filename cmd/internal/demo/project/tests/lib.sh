# Every test has a list of its own.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export TODO_FILE="$dir/todo.txt"

todo() { sh bin/todo "$@"; }

# same WANT GOT
same() {
	[ "$1" = "$2" ] && return
	printf 'want: %s\ngot:  %s\n' "$1" "$2"
	exit 1
}
