package userdata

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"strings"
	"testing"

	"pgregory.net/rapid"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/internal/seeded"
)

// readPart is a part as the standard library reads it.
type readPart struct {
	contentType, note, body string
}

// failer is what *testing.T and *rapid.T have in common here.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// readByStandardLibrary takes an archive apart with net/mail and mime/multipart, which share no code with ours.
func readByStandardLibrary(t failer, text string) []readPart {
	t.Helper()
	message, err := mail.ReadMessage(strings.NewReader(text))
	if err != nil {
		t.Fatalf("not a message: %v\n%s", err, text)
	}
	if version := message.Header.Get("MIME-Version"); version != "1.0" {
		t.Fatalf("MIME-Version is %q", version)
	}
	kind, parameters, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/mixed" {
		t.Fatalf("type %q: %v", kind, err)
	}
	reader := multipart.NewReader(message.Body, parameters["boundary"])
	var parts []readPart
	for {
		p, err := reader.NextRawPart()
		if errors.Is(err, io.EOF) {
			return parts
		}
		if err != nil {
			t.Fatalf("part %d: %v\n%s", len(parts), err, text)
		}
		body, err := io.ReadAll(p)
		if err != nil {
			t.Fatalf("part %d: %v", len(parts), err)
		}
		parts = append(parts, readPart{p.Header.Get("Content-Type"), p.Header.Get("X-Note"), string(body)})
	}
}

// AWN-184, AWN-196: every archive of the examples is read by other code than ours, and the generated part comes last.
func TestArchivesAreReadable(t *testing.T) {
	for name, config := range examples() {
		if config.Family != awsv1.AMIFamilyAL2 && config.Family != awsv1.AMIFamilyAL2023 {
			continue
		}
		rendered, err := Render(config)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(rendered.Text, "\r") {
			t.Errorf("%s: AWN-181: there is a carriage return", name)
		}
		parts := readByStandardLibrary(t, rendered.Text)
		if len(parts) == 0 {
			t.Fatalf("%s: no part", name)
		}
		last := parts[len(parts)-1]
		if config.Family == awsv1.AMIFamilyAL2 && (last.contentType != contentTypeScript || !strings.Contains(last.body, "/etc/eks/bootstrap.sh 'demo'")) ||
			config.Family == awsv1.AMIFamilyAL2023 && (last.contentType != mediaTypeNodeConfig || !strings.HasPrefix(last.body, nodeConfigComment)) {
			t.Errorf("%s: the last part is %+v", name, last)
		}
	}
}

// AWN-185, AWN-197: the parts of an archive come over with all their headers, sorted, and their bytes.
func TestPartsOfTheUser(t *testing.T) {
	for _, family := range []awsv1.AMIFamily{awsv1.AMIFamilyAL2, awsv1.AMIFamilyAL2023} {
		rendered, err := Render(with(demo(family), serviceCIDR, user("\n \n"+userArchive)))
		if err != nil {
			t.Fatal(err)
		}
		parts := readByStandardLibrary(t, rendered.Text)
		if len(parts) != 3 {
			t.Fatalf("%s: %d parts", family, len(parts))
		}
		if got, want := parts[0], (readPart{`text/cloud-config; charset="us-ascii"`, "kept", "#cloud-config\nruncmd: [ls]"}); got != want {
			t.Errorf("%s: %+v, want %+v", family, got, want)
		}
		if !strings.Contains(rendered.Text, "Content-Disposition: attachment\nContent-Type: text/cloud-config; charset=\"us-ascii\"\nX-Note: kept\n\n") {
			t.Errorf("%s: headers are not sorted:\n%s", family, rendered.Text)
		}
	}
}

// AWN-185: nothing but white space adds nothing, and a file with Windows' line ends is a script like any other.
func TestTextThatIsNoArchive(t *testing.T) {
	for text, want := range map[string]string{
		"":          "",
		" \r\n\t\n": "",
		"#!/bin/sh\r\necho MIME-Version: 1.0\r\n": "#!/bin/sh\necho MIME-Version: 1.0\n",
		"echo hello": "echo hello",
	} {
		rendered, err := Render(with(demo(awsv1.AMIFamilyAL2), user(text)))
		if err != nil {
			t.Fatal(err)
		}
		parts := readByStandardLibrary(t, rendered.Text)
		switch {
		case want == "" && len(parts) != 1:
			t.Errorf("%q: %d parts", text, len(parts))
		case want != "" && (len(parts) != 2 || parts[0].body != want || parts[0].contentType != contentTypeScript):
			t.Errorf("%q became %+v", text, parts)
		}
	}
}

// Whatever the parts hold, lines that look like a boundary among them, they come out of an archive as they went in.
func TestArchiveHoldsAnyParts(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		line := rapid.OneOf(
			rapid.StringMatching(`[ -~]{0,12}`),
			rapid.SampledFrom([]string{"--//", "--//--", "--//1", "--//1--", "--//12 ", "--//2x", "--", "//", ""}),
		)
		var parts []part
		for range rapid.IntRange(1, 4).Draw(t, "parts") {
			body := strings.Join(rapid.SliceOfN(line, 0, 8).Draw(t, "body"), "\n")
			parts = append(parts, newPart("text/plain", body))
		}
		text := writeArchive(parts)
		c := &Config{Family: awsv1.AMIFamilyAL2, UserData: text}
		again, err := userParts(c, func(string, ...any) {}, typeByFirstLine)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if len(again) != len(parts) {
			t.Fatalf("%d parts became %d:\n%s", len(parts), len(again), text)
		}
		for i := range parts {
			if again[i].body != parts[i].body {
				t.Fatalf("part %d: %q became %q", i, parts[i].body, again[i].body)
			}
			if got := strings.Split(text, "\n")[again[i].line-1]; got != strings.Split(parts[i].body, "\n")[0] {
				t.Fatalf("part %d is said to begin at line %d, %q", i, again[i].line, got)
			}
		}
		standard := readByStandardLibrary(t, text)
		for i := range parts {
			if standard[i].body != parts[i].body {
				t.Fatalf("part %d: the standard library reads %q, not %q", i, standard[i].body, parts[i].body)
			}
		}
	})
}
