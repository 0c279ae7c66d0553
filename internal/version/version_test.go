package version

import (
	"regexp"
	"runtime/debug"
	"testing"
)

func TestLine(t *testing.T) {
	if line := Line("simulate"); !regexp.MustCompile(`^drawknife simulate \S+ \(commit \S+, go\S+ \w+/\w+\)\n$`).MatchString(line) {
		t.Errorf("%q", line)
	}
	info := &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "0123"}, {Key: "vcs.modified", Value: "true"}}}
	if release, commit := of(info); release != "unknown" || commit != "0123-dirty" {
		t.Errorf("%s, %s", release, commit)
	}
	info.Main.Version, info.Settings[1].Value = "v0.3.0", "false"
	if release, commit := of(info); release != "v0.3.0" || commit != "0123" {
		t.Errorf("%s, %s", release, commit)
	}
}
