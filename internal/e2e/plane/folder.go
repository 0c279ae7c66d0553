package plane

import (
	"os"
	"path/filepath"
)

// folderPattern is short, because the path of etcd's socket in the folder is limited to about 100 bytes.
const folderPattern = "dk-plane-"

// lockFile is the name of a file that is locked while the process that owns the folder runs.
const lockFile = "lock"

// newFolder creates a data folder for this process. It also removes folders that killed processes have left behind.
func newFolder(parent string) (dir string, lock *os.File, err error) {
	sweep(parent)
	if dir, err = os.MkdirTemp(parent, folderPattern); err != nil {
		return "", nil, err
	}
	// The file gets its final name only after it is locked, because sweep ignores folders without a file of this name.
	unnamed := filepath.Join(dir, lockFile+".new")
	if lock, err = os.Create(unnamed); err != nil {
		return "", nil, err
	}
	claim(lock)
	return dir, lock, os.Rename(unnamed, filepath.Join(dir, lockFile))
}

// sweep removes folders if the process that owns them has ended. A folder without a lock file is still being created.
func sweep(parent string) {
	locks, err := filepath.Glob(filepath.Join(parent, folderPattern+"*", lockFile))
	if err != nil {
		return
	}
	for _, name := range locks {
		lock, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if claim(lock) {
			_ = os.RemoveAll(filepath.Dir(name))
		}
		_ = lock.Close()
	}
}
