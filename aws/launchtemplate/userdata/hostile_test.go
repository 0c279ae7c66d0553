package userdata

import (
	"runtime"
	"strings"
	"testing"
	"time"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// Whatever a user's text of the largest size holds, little time and memory are spent on it: a controller reads it.
func TestHostileUserData(t *testing.T) {
	// filled has as much in its middle as fits.
	filled := func(before, open, middle, end, after string) string {
		n := (maxInput - len(before) - len(middle) - len(after)) / (len(open) + len(end))
		return before + strings.Repeat(open, n) + middle + strings.Repeat(end, n) + after
	}
	for name, c := range map[string]struct {
		family awsv1.AMIFamily
		text   string
	}{
		"TOML: lists":         {awsv1.AMIFamilyBottlerocket, filled("[settings]\na = ", "[", "", "]", "\n")},
		"TOML: some lists":    {awsv1.AMIFamilyBottlerocket, "[settings]\na = " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000)},
		"TOML: open lists":    {awsv1.AMIFamilyBottlerocket, filled("[settings]\na = ", "[", "", "", "\n")},
		"TOML: inline tables": {awsv1.AMIFamilyBottlerocket, filled("[settings]\na = ", "{x=1,a=", "1", "}", "\n")},
		"TOML: dotted key":    {awsv1.AMIFamilyBottlerocket, filled("[settings]\na", ".a", " = 1", "", "\n")},
		"TOML: dotted table":  {awsv1.AMIFamilyBottlerocket, filled("[settings", ".a", "]\nx = 1", "", "\n")},
		"TOML: tables":        {awsv1.AMIFamilyBottlerocket, filled("", "[[settings.a]]\n", "x = 1", "", "\n")},
		"TOML: digits":        {awsv1.AMIFamilyBottlerocket, filled("[settings]\na = ", "1", "", "", "\n")},
		"TOML: exponents":     {awsv1.AMIFamilyBottlerocket, "[settings]\na = 1e-999999999\nb = 1e999999999\n"},
		"YAML: lists":         {awsv1.AMIFamilyAL2023, filled("kind: NodeConfig\na: ", "[", "", "]", "\n")},
		"YAML: maps":          {awsv1.AMIFamilyAL2023, filled("kind: NodeConfig\na: ", "{a: ", "1", "}", "\n")},
		"YAML: dashes":        {awsv1.AMIFamilyAL2023, filled("kind: NodeConfig\na:\n ", "- ", "1", "", "\n")},
		"YAML: keys":          {awsv1.AMIFamilyAL2023, filled("kind: NodeConfig\na:\n ", "? ", "1", "", "\n")},
		"YAML: aliases":       {awsv1.AMIFamilyAL2023, filled("apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\na: &a [b]\nc: [", "*a ,", "1", "", "]\n")},
		"YAML: documents":     {awsv1.AMIFamilyAL2023, filled("kind: NodeConfig\n", "---\na\n", "1", "", "\n")},
		"MIME: folded header": {awsv1.AMIFamilyAL2, filled("Content-Type: multipart/mixed;\n", " x\n", "", "", "\n\n--a\n")},
		"MIME: parameters":    {awsv1.AMIFamilyAL2, filled("Content-Type: multipart/mixed", ";\n a*1=x", "", "", "\n\n--a\n")},
		"MIME: parts":         {awsv1.AMIFamilyAL2, filled("Content-Type: multipart/mixed; boundary=a\n\n", "--a\n\nx\n", "", "", "\n\n--a--\n")},
		"MIME: boundaries":    {awsv1.AMIFamilyAL2, filled("Content-Type: multipart/mixed; boundary=a\n\n--a\n\n", "--//1\n", "", "", "\n\n--a--\n")},
	} {
		t.Run(name, func(t *testing.T) {
			config := with(demo(c.family), user(c.text), serviceCIDR)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, err := Render(config)
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if err != nil {
				refusedAsItShould(t, config, err)
			}
			if took > 5*time.Second {
				t.Errorf("takes %s", took)
			}
			if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 1024 {
				t.Errorf("allocates %d MiB", used)
			}
		})
	}
}

// Settings as deep as any are taken.
func TestDeepSettings(t *testing.T) {
	for depth, want := range map[int]bool{maxDepth - 1: true, maxDepth + 1: false} {
		text := "[settings.a" + strings.Repeat(".a", depth-2) + "]\n"
		if _, err := Render(with(demo(awsv1.AMIFamilyBottlerocket), user(text))); (err == nil) != want {
			t.Errorf("%d tables in one another: %v", depth, err)
		}
	}
}
