#!/bin/sh
# Runs the tests named in tests/enabled: one "ok" or "not ok" line each.
# A task begins by adding the name of its test there.
cd "$(dirname "$0")/.." || exit 2
failed=0
while read -r name; do
	if out=$(sh "tests/$name.sh" 2>&1 </dev/null); then
		echo "ok - $name"
	else
		echo "not ok - $name"
		echo "$out" | sed 's/^/    /'
		failed=$((failed + 1))
	fi
done <tests/enabled
echo "$failed failed"
[ "$failed" -eq 0 ]
