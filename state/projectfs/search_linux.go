package projectfs

import "golang.org/x/sys/unix"

// search opens a folder to reach what is in it. That needs no permission to list the folder, such as /home may refuse.
const search = unix.O_PATH
