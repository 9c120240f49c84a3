. tests/lib.sh
todo add buy milk
todo add bake bread
same "1. [ ] buy milk
2. [ ] bake bread" "$(todo list)"
