package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"
)

func main() {
	write := flag.Bool("write", false, "write docs/compatibility.md instead of comparing with it")
	only := flag.String("suites", "", "comma-separated names of the suites to run; docs/compatibility.md is then neither compared nor written")
	again := flag.Bool("again", false, "run no suite: judge the results of the last run again, after a change of differences.yaml")
	flag.Parse()
	if err := run(*write, *again, *only); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(write, again bool, only string) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	known, err := readTable(filepath.Join(here, "differences.yaml"))
	if err != nil {
		return err
	}
	dir, err := workFolder()
	if err != nil {
		return err
	}
	w, err := newWorkspace(here, dir)
	if err != nil {
		return err
	}
	w.again = again
	var verdicts []verdict
	var unexplained []string
	for _, s := range suites() {
		if only != "" && !strings.Contains(","+only+",", ","+s.name+",") {
			continue
		}
		v, err := w.compare(known, s)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %d specs, %d agree, %d differ, %d not here, %d do not apply, %d unexplained\n",
			s.name, v.specs, v.agree, v.differs, v.notHere, v.outside, len(v.unexplained))
		for _, u := range v.unexplained {
			unexplained = append(unexplained, s.name+": "+u)
		}
		verdicts = append(verdicts, v)
	}
	if len(unexplained) > 0 {
		return fmt.Errorf("%d unexplained:\n%s", len(unexplained), strings.Join(unexplained, "\n"))
	}
	if only != "" {
		return nil
	}
	return publish(filepath.Join(here, "..", "..", "docs", "compatibility.md"), report(known, w.versions, verdicts), write)
}

// compare runs the specs of a suite twice: with the unchanged release, and with a part of this project in the release.
func (w *workspace) compare(known *table, s suite) (verdict, error) {
	if s.name == "conversion" {
		release, ours, err := w.conversions()
		return judge(known, s.name, release, ours), err
	}
	if s.plugin != "" {
		release, ours, err := w.replay(s.plugin)
		return judge(known, s.name, release, ours), err
	}
	if !w.again {
		if _, err := w.build(s); err != nil {
			return verdict{}, err
		}
	}
	var release, ours outcome
	var both errgroup.Group // a run mostly waits to see that certain events don't happen, so both runs take place at the same time
	both.Go(func() (err error) {
		release, err = w.run(s, "release", nil)
		return err
	})
	both.Go(func() (err error) {
		ours, err = w.run(s, "ours", s.ours)
		return err
	})
	if err := both.Wait(); err != nil {
		return verdict{}, err
	}
	return judge(known, s.name, release, ours), nil
}

// publish writes the page to a file. If write is false, it only reports whether the page is out of date.
func publish(path, text string, write bool) error {
	if write {
		return os.WriteFile(path, []byte(text), 0o644)
	}
	was, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if string(was) != text {
		return fmt.Errorf("docs/compatibility.md is stale: go -C internal/compat run . -write")
	}
	return nil
}
