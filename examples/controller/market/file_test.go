package market_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/examples/controller/market"
)

// A file is read again when it has changed, at most once a minute; one that can't be read leaves what was known and is logged once.
func TestFile(t *testing.T) {
	var log bytes.Buffer
	now := start
	path := filepath.Join(t.TempDir(), "commitments.yaml")
	f := &market.File{Path: path, Logger: slog.New(slog.NewTextHandler(&log, nil)), Clock: option.ClockFunc(func() time.Time { return now })}
	write := func(text string, modified time.Time) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, modified, modified); err != nil {
			t.Fatal(err)
		}
	}
	percent := func() float64 {
		account := f.Account()
		if account == nil {
			return 0
		}
		return account.Discounts[0].Percent
	}
	if percent() != 0 || !strings.Contains(log.String(), "cannot read commitments") {
		t.Errorf("without a file: %v, %s", percent(), log.String())
	}
	const text = "schema: drawknife-commitments/1\ndiscounts: [{name: EDP, source: contract, percent: 9}]\n"
	write(text, start)
	if percent() != 0 {
		t.Error("read again within a minute")
	}
	now = now.Add(time.Minute)
	if percent() != 9 {
		t.Errorf("read %v", percent())
	}
	write(strings.Replace(text, "9", "7", 1), start.Add(time.Second))
	now = now.Add(time.Minute)
	if percent() != 7 {
		t.Errorf("a changed file: %v", percent())
	}
	write("schema: x", start.Add(2*time.Second))
	log.Reset()
	for range 3 {
		now = now.Add(time.Minute)
		if percent() != 7 {
			t.Errorf("a file that can't be read: %v", percent())
		}
	}
	if n := strings.Count(log.String(), "cannot read"); n != 1 {
		t.Errorf("logged %d times", n)
	}
}
