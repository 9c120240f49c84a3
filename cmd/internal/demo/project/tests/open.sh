. tests/lib.sh
printf '[x] buy milk\n[ ] bake bread\n' >"$TODO_FILE"
same "2. [ ] bake bread" "$(todo list --open)"
