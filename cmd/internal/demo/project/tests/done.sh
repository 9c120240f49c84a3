. tests/lib.sh
todo add buy milk
todo add bake bread
todo done 1
same "1. [x] buy milk
2. [ ] bake bread" "$(todo list)"
if todo done 7; then
	echo "an unknown entry was accepted"
	exit 1
fi
