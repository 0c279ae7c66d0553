package plane

import (
	"os"
	"path/filepath"
)

// folderPattern is short: the path of etcd's socket within is limited to some 100 bytes.
const folderPattern = "dk-plane-"

// lockFile is locked while the owner of a folder runs.
const lockFile = "lock"

// newFolder makes a data folder for the life of this process. It also removes folders that were left behind by processes that were
// killed.
func newFolder(parent string) (dir string, lock *os.File, err error) {
	sweep(parent)
	if dir, err = os.MkdirTemp(parent, folderPattern); err != nil {
		return "", nil, err
	}
	// It gets its name only when it is locked: until then the folder is passed over.
	unnamed := filepath.Join(dir, lockFile+".new")
	if lock, err = os.Create(unnamed); err != nil {
		return "", nil, err
	}
	claim(lock)
	return dir, lock, os.Rename(unnamed, filepath.Join(dir, lockFile))
}

// sweep removes the folders whose owner is gone. A folder without a lock is just being created.
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
