package plane

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFoldersOfTheDeadAreRemoved checks that a folder goes when nobody holds its lock, and no other.
func TestFoldersOfTheDeadAreRemoved(t *testing.T) {
	parent := t.TempDir()
	living, lock, err := newFolder(parent)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	dead, deadLock, err := newFolder(parent)
	if err != nil {
		t.Fatal(err)
	}
	if !claim(deadLock) {
		t.Skip("there are no locks here that end with their process")
	}
	if err := deadLock.Close(); err != nil { // as the kernel does
		t.Fatal(err)
	}
	unlocked := filepath.Join(parent, folderPattern+"new")
	other := filepath.Join(parent, "other")
	for _, dir := range []string{unlocked, other} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(other, lockFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	sweep(parent)
	for dir, want := range map[string]bool{living: true, dead: false, unlocked: true, other: true} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s: %v, want that it is there: %v", dir, err, want)
		}
	}
}
