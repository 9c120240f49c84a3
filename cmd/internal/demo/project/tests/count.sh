. tests/lib.sh
same "0 open, 0 done" "$(todo count)"
printf '[x] buy milk\n[ ] bake bread\n[ ] eat\n' >"$TODO_FILE"
same "2 open, 1 done" "$(todo count)"
