package convert

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// yardstickFile lists manifests of published packages, with the expected outcome for each of them. The manifests themselves are not in the
// repository.
const yardstickFile = "testdata/yardstick.yaml"

// Outcomes of a manifest. A refusal is followed by its reason.
const (
	outcomeConverted = "converted"
	outcomeUnchanged = "unchanged"
	outcomeRefused   = "refused: "
)

type yardstick struct {
	Sources []yardstickSource `json:"sources"`
}

type yardstickSource struct {
	// Package is a registry (go, npm or pypi), a name and a version: "go sigs.k8s.io/karpenter@v1.0.8".
	Package string `json:"package"`
	Licence string `json:"licence"`
	// Definitions adds the package's CustomResourceDefinitions.
	Definitions bool                `json:"definitions,omitempty"`
	Manifests   []yardstickManifest `json:"manifests"`
}

type yardstickManifest struct {
	// File is the path in the package. A file of an archive in the package follows "!".
	File string `json:"file"`
	// Number is the number of the manifest among those that manifestsIn finds in the file, from 1.
	Number int `json:"number"`
	// SHA256 is the digest of the manifest's text.
	SHA256  string `json:"sha256"`
	Outcome string `json:"outcome"`
	// Wrong says why the outcome is wrong; empty if a reader would accept it.
	Wrong string `json:"wrong,omitempty"`
}

func readYardstick(t *testing.T) yardstick {
	t.Helper()
	var list yardstick
	if err := yaml.UnmarshalStrict([]byte(read(t, yardstickFile)), &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// The list has at least 300 different manifests, and at least 99 % of them are converted, unchanged or refused for a good reason.
func TestYardstickList(t *testing.T) {
	seen := map[string]bool{}
	wrong := 0
	for _, source := range readYardstick(t).Sources {
		if source.Licence == "" {
			t.Errorf("%s: no licence", source.Package)
		}
		for _, m := range source.Manifests {
			reason, refused := strings.CutPrefix(m.Outcome, outcomeRefused)
			if m.Outcome != outcomeConverted && m.Outcome != outcomeUnchanged && (!refused || reason == "") {
				t.Errorf("%s %s: outcome %q", source.Package, m.File, m.Outcome)
			}
			if len(m.SHA256) != 2*sha256.Size || seen[m.SHA256] {
				t.Errorf("%s %s: %q is no digest, or is listed twice", source.Package, m.File, m.SHA256)
			}
			seen[m.SHA256] = true
			if m.Wrong != "" {
				wrong++
			}
		}
	}
	if len(seen) < 300 || 100*wrong > len(seen) {
		t.Errorf("%d manifests, of which %d have a wrong outcome", len(seen), wrong)
	}
}

// yardstickFolder returns the folder for downloaded packages, or skips the test.
func yardstickFolder(t *testing.T) string {
	t.Helper()
	switch folder := os.Getenv("DRAWKNIFE_YARDSTICK"); folder {
	case "":
		t.Skip("downloads packages: set DRAWKNIFE_YARDSTICK to 1, or to a folder that keeps them")
		return ""
	case "1":
		return t.TempDir()
	default:
		return folder
	}
}

// The packages of the list can be downloaded.
func TestYardstickPackages(t *testing.T) {
	folder := yardstickFolder(t)
	for _, source := range readYardstick(t).Sources {
		if _, err := fetchPackage(folder, source.Package); err != nil {
			t.Errorf("%s: %v", source.Package, err)
		}
	}
}

// The command does what the list says with each manifest, and keeps working if the manifest is changed. With -update, the test writes the
// manifests and outcomes of all packages in the list.
func TestYardstick(t *testing.T) {
	folder := yardstickFolder(t)
	list := readYardstick(t)
	seen := map[string]bool{}
	counts := map[string]int{}
	for i := range list.Sources {
		source := &list.Sources[i]
		files, err := fetchPackage(folder, source.Package)
		if err != nil {
			t.Fatalf("%s: %v", source.Package, err)
		}
		if licence := licenceOf(files); licence != source.Licence {
			t.Errorf("%s: the licence is %q, the list says %q", source.Package, licence, source.Licence)
			source.Licence = licence
		}
		texts := map[string]string{}
		for _, f := range files {
			for n, text := range manifestsIn(f.name, f.text, source.Definitions) {
				texts[fmt.Sprintf("%s %d", f.name, n+1)] = text
			}
		}
		if *update {
			source.Manifests = listManifests(files, seen, source)
		}
		for j := range source.Manifests {
			m := &source.Manifests[j]
			text := texts[fmt.Sprintf("%s %d", m.File, m.Number)]
			if got := digestOf(text); got != m.SHA256 {
				t.Errorf("%s %s, manifest %d: the digest is %s", source.Package, m.File, m.Number, got)
				continue
			}
			got := outcomeOf(t, text)
			if *update {
				m.Outcome = got
			} else if got != m.Outcome {
				t.Errorf("%s %s, manifest %d: %s, the list says %s", source.Package, m.File, m.Number, got, m.Outcome)
			}
			kind, _, _ := strings.Cut(got, ":")
			counts[kind]++
			checkMutations(t, text, got)
		}
	}
	t.Logf("%d packages: %v", len(list.Sources), counts)
	if *update {
		writeYardstick(t, list)
	}
}

// listManifests returns the manifests of a package that are not in seen.
func listManifests(files []packageFile, seen map[string]bool, source *yardstickSource) []yardstickManifest {
	wrong := map[string]string{}
	for _, m := range source.Manifests {
		wrong[m.SHA256] = m.Wrong
	}
	var list []yardstickManifest
	for _, f := range files {
		for n, text := range manifestsIn(f.name, f.text, source.Definitions) {
			if digest := digestOf(text); !seen[digest] {
				seen[digest] = true
				list = append(list, yardstickManifest{File: f.name, Number: n + 1, SHA256: digest, Wrong: wrong[digest]})
			}
		}
	}
	return list
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// convertText runs the command on a file with the text.
func convertText(t *testing.T, text string) (code int, stdout, stderr string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "manifest.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-f", name, "--workloads"}
	if variable.MatchString(text) {
		args = append(args, "--allow-variables")
	}
	code, stdout, stderr = exec(t, "", args...)
	return code, stdout, strings.ReplaceAll(stderr, name, "manifest.yaml")
}

var (
	problemPlace = regexp.MustCompile(`manifest\.yaml:[0-9]+ \(document [0-9]+(, item [0-9]+)?\): `)
	// isOld matches what is left of older generations: objects, and keys of workloads.
	isOld = regexp.MustCompile(`karpenter\.sh/(provisioner-name|do-not-evict|do-not-consolidate)|(?m)^apiVersion: *["']?(karpenter\.sh/(v1alpha5|v1beta1)|karpenter\.k8s\.aws/(v1alpha1|v1beta1))\b`)
)

// outcomeOf converts a manifest, and returns what happened. The result of a conversion must convert to itself.
func outcomeOf(t *testing.T, text string) string {
	t.Helper()
	code, out, errs := convertText(t, text)
	if code == exitConverted {
		if again, same, errs := convertText(t, out); again != exitConverted || same != out {
			t.Errorf("the result of\n%s\nis not converted to itself: status %d: %s", text, again, errs)
		}
		if isOld.MatchString(text) {
			return outcomeConverted
		}
		return outcomeUnchanged
	}
	var lines []string
	for line := range strings.Lines(errs) {
		line = strings.TrimSpace(line)
		if problemPlace.MatchString(line) || strings.HasPrefix(line, "ERROR ") {
			lines = append(lines, problemPlace.ReplaceAllString(line, ""))
		}
	}
	if len(lines) == 0 {
		// No object has an error: the last line says why there is no result.
		all := strings.Split(strings.TrimSpace(errs), "\n")
		lines = []string{strings.TrimPrefix(all[len(all)-1], "convert: ")}
		for _, line := range all {
			if strings.HasPrefix(line, "WARN W603 ") {
				lines = []string{line}
			}
		}
	}
	return outcomeRefused + firstWords(lines[0], 100)
}

// firstWords returns the words at the beginning of the text that have at most limit bytes together.
func firstWords(text string, limit int) string {
	words := strings.Fields(text)
	length := 0
	for i, word := range words {
		if length += len(word) + 1; length > limit && i > 0 {
			return strings.Join(words[:i], " ") + " …"
		}
	}
	return strings.Join(words, " ")
}

func writeYardstick(t *testing.T, list yardstick) {
	t.Helper()
	text, err := os.ReadFile(yardstickFile)
	if err != nil {
		t.Fatal(err)
	}
	comment, _, _ := strings.Cut(string(text), "sources:\n")
	var out strings.Builder
	out.WriteString(comment + "sources:\n")
	for _, source := range list.Sources {
		if len(source.Manifests) == 0 {
			continue
		}
		fmt.Fprintf(&out, "- package: %q\n  licence: %s\n", source.Package, source.Licence)
		if source.Definitions {
			out.WriteString("  definitions: true\n")
		}
		out.WriteString("  manifests:\n")
		for _, m := range source.Manifests {
			fmt.Fprintf(&out, "  - {file: %q, number: %d, sha256: %s, outcome: %q", m.File, m.Number, m.SHA256, m.Outcome)
			if m.Wrong != "" {
				fmt.Fprintf(&out, ", wrong: %q", m.Wrong)
			}
			out.WriteString("}\n")
		}
	}
	if err := os.WriteFile(yardstickFile, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
