package carrier

import (
	"fmt"
	"strconv"
	"strings"
)

// Fits says why two versions of ralph do not work together; nil: they do. One minor version apart is fine.
func Fits(mine, theirs string) error {
	if mine == theirs {
		return nil
	}
	a, b, ok1 := minor(mine)
	c, d, ok2 := minor(theirs)
	if ok1 && ok2 && a == c && b-d <= 1 && d-b <= 1 {
		return nil
	}
	return fmt.Errorf("it has ralph %q and this is ralph %q; they may be one minor version apart", theirs, mine)
}

func minor(version string) (major, minor int, ok bool) {
	f := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(f) < 3 {
		return 0, 0, false
	}
	major, err1 := strconv.Atoi(f[0])
	minor, err2 := strconv.Atoi(f[1])
	return major, minor, err1 == nil && err2 == nil
}
