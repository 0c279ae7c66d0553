package market

import (
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/cloudprovider/commitments"
)

// fileEvery is how often a file is checked for changes.
const fileEvery = time.Minute

// File reads an account's commitments from a file (commitments.Decode), and reads the file again when it has changed. The file may be
// mounted from a ConfigMap or a bucket, or written by a program. While the file can't be read, the last content remains in use. It is safe
// for concurrent use.
type File struct {
	// Path is the path of the file. Required.
	Path string
	// Logger receives errors, once for each version of the file; nil discards the errors.
	Logger *slog.Logger
	// Clock is the clock; nil means the real clock.
	Clock option.Clock

	mu      sync.Mutex
	looked  time.Time
	version time.Time // modification time of the file that was read
	failed  string
	account *commitments.Account
}

// Account returns the content of the file, for CostsOptions.Commitments, or nil until the file was read once. It must not be changed.
func (f *File) Account() *commitments.Account {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := option.Time(f.Clock, time.Now)
	if !f.looked.IsZero() && now.Sub(f.looked) < fileEvery {
		return f.account
	}
	f.looked = now
	if err := f.read(); err != nil {
		if text := err.Error(); text != f.failed && f.Logger != nil {
			f.Logger.Error("cannot read commitments, using the last ones that were read, or none", "file", f.Path, "error", err)
		}
		f.failed = err.Error()
		return f.account
	}
	f.failed = ""
	return f.account
}

func (f *File) read() error {
	file, err := os.Open(f.Path)
	if err != nil {
		return err
	}
	defer file.Close() // nothing was written, so closing can't lose anything
	info, err := file.Stat()
	if err != nil || f.account != nil && info.ModTime().Equal(f.version) {
		return err
	}
	account, err := commitments.Decode(file)
	if err != nil {
		return err
	}
	f.account, f.version = account, info.ModTime()
	return nil
}
