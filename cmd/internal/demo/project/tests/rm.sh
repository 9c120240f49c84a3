. tests/lib.sh
todo add buy milk
todo add bake bread
todo rm 1
same "1. [ ] bake bread" "$(todo list)"
if todo rm 7; then
	echo "an unknown entry was accepted"
	exit 1
fi
