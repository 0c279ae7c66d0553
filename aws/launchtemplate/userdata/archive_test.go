package userdata

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"mime"
	"mime/multipart"
	"net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// instancePart is a part as a reader of the node sees it. Empty parts are left out: no reader does anything with them.
type instancePart struct {
	ContentType string `json:"contentType"`
	Body        string `json:"body"`
}

// readLikeNodeadm reads as nodeadm and Karpenter do: with net/mail and mime/multipart, up to an error that is io.EOF.
func readLikeNodeadm(text string) ([]instancePart, error) {
	message, err := mail.ReadMessage(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	kind, parameters, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(kind, "multipart/") || parameters["boundary"] == "" {
		return nil, errors.New("not multipart")
	}
	reader := multipart.NewReader(message.Body, parameters["boundary"])
	var parts []instancePart
	for {
		p, err := reader.NextRawPart()
		if errors.Is(err, io.EOF) {
			return parts, nil
		}
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(p)
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(string(body)) != "" {
			parts = append(parts, instancePart{strings.Join(strings.Fields(p.Header.Get("Content-Type")), " "), string(body)})
		}
	}
}

// readLikeCloudInit reads many texts with Python's email package. ok is false without a Python.
func readLikeCloudInit(t *testing.T, texts []string) (all [][]instancePart, ok bool) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		return nil, false
	}
	in, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(python, filepath.Join("testdata", "read_archives.py"))
	command.Stdin = bytes.NewReader(in)
	out, err := command.Output()
	if err != nil {
		t.Fatalf("python3: %v", err)
	}
	if err := json.Unmarshal(out, &all); err != nil {
		t.Fatal(err)
	}
	return all, true
}

// readByUs is what Render makes of a text: the parts that an instance finds in front of the generated one.
func readByUs(t *testing.T, family awsv1.AMIFamily, text string) (parts []instancePart, warnings []string, err error) {
	t.Helper()
	rendered, err := Render(with(demo(family), serviceCIDR, user(text)))
	if err != nil {
		return nil, nil, err
	}
	parts, err = readLikeNodeadm(rendered.Text)
	if err != nil {
		t.Fatalf("what is written can't be read: %v\n%s", err, rendered.Text)
	}
	return parts[:len(parts)-1], rendered.Warnings, nil
}

func digest(parts []instancePart) string {
	text, _ := json.Marshal(append([]instancePart{}, parts...)) // strings alone
	sum := sha256.Sum256(text)
	return fmt.Sprintf("%d %s", len(parts), hex.EncodeToString(sum[:8]))
}

// archiveSeeds are archives as people write them.
var archiveSeeds = map[string]string{
	"closed": "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n--//\nContent-Type: text/x-shellscript; charset=\"us-ascii\"\n\n#!/bin/sh\necho a\n\n" +
		"--//\nContent-Type: text/cloud-config\nX-Note: n\n\n#cloud-config\nruncmd: [ls]\n--//--",
	"not closed": "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"BOUNDARY\"\n\n--BOUNDARY\nContent-Type: text/x-shellscript; charset=\"us-ascii\"\n\n" +
		"#!/bin/bash\nset -e\n\n--BOUNDARY",
	"preamble and epilogue": "Content-Type: multipart/mixed;\n boundary=\"b\"\nMIME-Version: 1.0\n\nfor people\n--b \nContent-Type: text/x-shellscript\nContent-Disposition: attachment;\n" +
		"\tfilename=\"a.sh\"\n\n#!/bin/sh\necho --b\n--bc\n-- b\n --b\n--b-\n\n--b--\t\nafterwards\n--b\nx: y\n",
	"no quotes": "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=simple\n\n--simple\nContent-Type: text/x-shellscript\n\n#!/bin/sh\n--simple--\n",
}

// mutations of a text, by name: lines left out, doubled, indented, cut off, and the like.
func mutations(name, text string) map[string]string {
	all := map[string]string{name: text, name + ", more lines": text + "\n\n\n"}
	lines := strings.Split(text, "\n")
	join := func(parts ...[]string) string { return strings.Join(slices.Concat(parts...), "\n") }
	for i, line := range lines {
		at := func(what string) string { return fmt.Sprintf("%s, line %d %s", name, i+1, what) }
		before, after := lines[:i], lines[i+1:]
		all[at("left out")] = join(before, after)
		all[at("twice")] = join(before, []string{line, line}, after)
		all[at("after an empty line")] = join(before, []string{"", line}, after)
		all[at("followed by space")] = join(before, []string{line + " \t"}, after)
		all[at("followed by a word")] = join(before, []string{line + " x"}, after)
		all[at("indented")] = join(before, []string{" " + line}, after)
		all[at("with dashes")] = join(before, []string{line + "--"}, after)
		all[at("without its last two characters")] = join(before, []string{line[:max(len(line)-2, 0)]}, after)
		all[at("without quotes")] = join(before, []string{strings.ReplaceAll(line, `"`, "")}, after)
		all[at("after the last")] = join(lines[:i+1])
		all[at("after a word")] = join(before, []string{"word", line}, after)
		all[at("after a name")] = join(before, []string{": x", line}, after)
	}
	// What is not meant as an archive is not the matter here; Render trims what is before and after.
	maps.DeleteFunc(all, func(_, text string) bool { return !isArchive(strings.TrimSpace(text)) })
	for key, text := range all {
		all[key] = strings.TrimSpace(text)
	}
	return all
}

// AWN-185, AWN-197: an archive is read as the readers of a node read it. What both read alike is read so; what only
// cloud-init reads, or what they don't read alike, is read as cloud-init does, with a warning; what neither reads is
// refused.
func TestArchivesAreReadAsInstancesReadThem(t *testing.T) {
	texts := make(map[string]string)
	for name, seed := range archiveSeeds {
		maps.Copy(texts, mutations(name, seed))
	}
	names := slices.Sorted(maps.Keys(texts))
	var inputs []string
	for _, name := range names {
		inputs = append(inputs, texts[name])
	}
	const recorded = "testdata/archives_read_by_python.txt"
	python, have := readLikeCloudInit(t, inputs)
	if *update {
		if !have {
			t.Fatal("no python3 to record")
		}
		var b strings.Builder
		for i, name := range names {
			fmt.Fprintf(&b, "%s\t%s\n", digest(python[i]), name)
		}
		if err := os.WriteFile(recorded, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile(recorded)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(file), "\n"), "\n")
	if len(lines) != len(names) {
		t.Fatalf("%s has %d lines for %d texts: write it again with -update", recorded, len(lines), len(names))
	}
	for i, name := range names {
		want, recordedName, _ := strings.Cut(lines[i], "\t")
		if recordedName != name {
			t.Fatalf("%s has %q in place of %q: write it again with -update", recorded, recordedName, name)
		}
		if have && digest(python[i]) != want {
			t.Errorf("%s: this Python reads otherwise than the one recorded:\n%+v", name, python[i])
		}
		judgeReading(t, name, inputs[i], want)
	}
}

// judgeReading compares our reading with nodeadm's and with the digest of cloud-init's.
func judgeReading(t *testing.T, name, text, cloudInit string) {
	t.Helper()
	nodeadm, refused := readLikeNodeadm(text)
	ours, warnings, err := readByUs(t, awsv1.AMIFamilyAL2, text)
	nothing := digest(nil)
	switch {
	case err != nil:
		if refused == nil && len(nodeadm) > 0 || cloudInit != nothing {
			t.Errorf("%s: is refused, and a node reads it: %v\n%s", name, err, text)
		}
	case digest(ours) != cloudInit:
		t.Errorf("%s: not as cloud-init reads it: %+v\n%s", name, ours, text)
	case refused != nil && len(warnings) == 0:
		t.Errorf("%s: no warning, and nodeadm refuses it: %v\n%s", name, refused, text)
	case refused == nil && len(warnings) == 0 && digest(ours) != digest(nodeadm):
		t.Errorf("%s: no warning, and nodeadm reads otherwise: %s\n%s", name, cmp.Diff(nodeadm, ours), text)
	}
}

// The samples in a release of Karpenter's AWS provider, and mutations of them, are read as nodes read them.
func TestArchivesOfKarpenter(t *testing.T) {
	folder := os.Getenv("DRAWKNIFE_KARPENTER_AWS")
	if folder == "" {
		t.Skip("DRAWKNIFE_KARPENTER_AWS does not name the folder of module github.com/aws/karpenter-provider-aws")
	}
	texts := make(map[string]string)
	files := 0
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) == ".go" {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		found := archivesIn(string(content))
		if len(found) > 0 {
			files++
		}
		for i, text := range found {
			maps.Copy(texts, mutations(fmt.Sprintf("%s %d", path, i), text))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 10 {
		t.Fatalf("only %d files with archives are in %s", files, folder)
	}
	names := slices.Sorted(maps.Keys(texts))
	var inputs []string
	for _, name := range names {
		inputs = append(inputs, texts[name])
	}
	python, ok := readLikeCloudInit(t, inputs)
	if !ok {
		t.Skip("there is no python3")
	}
	for i, name := range names {
		judgeReading(t, name, inputs[i], digest(python[i]))
	}
	t.Logf("%d archives, mutations among them, of %d files", len(texts), files)
}

// archivesIn finds archives in a text: each begins at a line with its first header, and goes on as long as lines are
// indented as far, or to the end of a block of code.
func archivesIn(text string) []string {
	var all []string
	lines := strings.Split(strings.ReplaceAll(text, "\r", ""), "\n")
	for i := 0; i < len(lines); i++ {
		indent, rest, _ := strings.Cut(lines[i], strings.TrimLeft(lines[i], " "))
		rest = lines[i][len(indent)+len(rest):]
		if !strings.HasPrefix(rest, "MIME-Version:") && !strings.HasPrefix(rest, "Content-Type: multipart/") {
			continue
		}
		var b strings.Builder
		for ; i < len(lines) && (strings.HasPrefix(lines[i], indent) || strings.TrimSpace(lines[i]) == "") && !strings.HasPrefix(strings.TrimSpace(lines[i]), "```"); i++ {
			b.WriteString(strings.TrimPrefix(lines[i], indent) + "\n")
		}
		all = append(all, strings.TrimSpace(b.String()))
	}
	return all
}

// AWN-185: what is odd about an archive is told with its line, each kind once and nothing of the text.
func TestOddArchives(t *testing.T) {
	const al2, al2023 = awsv1.AMIFamilyAL2, awsv1.AMIFamilyAL2023
	const head = "Content-Type: multipart/mixed; boundary=b\n\n"
	for _, tc := range []struct {
		name   string
		family awsv1.AMIFamily
		text   string
		parts  []instancePart
		warns  []string
	}{
		{"no closing line", al2, head + "--b\n\nsecret\n--b\nContent-Type: x/y\n\nmore", []instancePart{{"", "secret"}, {"x/y", "more"}},
			[]string{"line 6: the part that ends here has no Content-Type", "line 9: the archive ends without its closing line"}},
		{"the last line opens a part", al2023, head + "--b\nContent-Type: text/x-shellscript\n\n#!/bin/sh\n--b", []instancePart{{"text/x-shellscript", "#!/bin/sh"}},
			[]string{"line 7: the last line opens another part instead of closing the archive"}},
		{"a part's headers without end", al2, head + "--b\nContent-Type: text/plain", nil, []string{"line 4: the archive ends without", "line 4: the part ends among its headers"}},
		{"headers and no body", al2, head + "--b\nContent-Type: x/y\n--b\nContent-Type: x/y\n\nz\n--b--", []instancePart{{"x/y", "z"}},
			[]string{"line 5: the part ends among its headers"}},
		{"no header", al2, head + "--b\nsecret\n\n--b--", []instancePart{{"", "secret\n"}},
			[]string{"line 4: is not a header", "line 6: the part that ends here has no Content-Type"}},
		{"a name with spaces", al2023, head + "--b\nsecret name: x\n--b--", []instancePart{{"", "secret name: x"}},
			[]string{"line 4: is not a header", "line 5: the part that ends here"}},
		{"continued nothing", al2, head + "--b\n  x: secret\nContent-Type: x/y\n\nz\n--b--", []instancePart{{"x/y", "z"}}, []string{"line 4: is indented"}},
		{"a header that some refuse, twice", al2, head + "--b\n(secret): x\n more\n[secret]: y\nContent-Type: x/y\n\nz\n--b--", []instancePart{{"x/y", "z"}},
			[]string{"line 4: is a header that not every reader accepts"}},
		{"a header continued by what some refuse", al2023, head + "--b\nX-Note: x\n secret\x14\n more\nContent-Type: x/y\n\nz\n--b--", []instancePart{{"x/y", "z"}},
			[]string{"line 5: continues a header with characters that not every reader accepts"}},
		{"the boundary twice", al2, head + "--b\n--b\nContent-Type: x/y\n\nz\n--b--", []instancePart{{"x/y", "z"}}, []string{"line 4: the boundary occurs twice"}},
		{"no boundary", al2, head + "-- b\nsecret", nil, []string{"line 4: no line is the boundary"}},
		{"closed first", al2, head + "--b--\nsecret", nil, []string{"line 3: closes the archive before its first part"}},
		{"like the boundary", al2, head + "--b\nContent-Type: x/y\n\n--b secret\n--b--", []instancePart{{"x/y", "--b secret"}},
			[]string{"line 6: begins like the boundary"}},
		{"no quotes", al2, "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=//\n\n--//\nContent-Type: x/y\n\nz\n--//--", []instancePart{{"x/y", "z"}},
			[]string{"line 2: the boundary has to stand in quotes"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			parts, warnings, err := readByUs(t, tc.family, tc.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.parts, parts, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
			if len(warnings) != len(tc.warns) {
				t.Fatalf("warnings are %q", warnings)
			}
			for i, want := range tc.warns {
				if !strings.HasPrefix(warnings[i], "userData, "+want) || strings.Contains(warnings[i], "secret") {
					t.Errorf("%q is not about %s", warnings[i], want)
				}
			}
		})
	}
}
