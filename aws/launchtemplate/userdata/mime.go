package userdata

import (
	"encoding/base64"
	"io"
	"mime/quotedprintable"
	"strconv"
	"strings"
	"unicode/utf8"
)

// boundary separates the parts unless a part holds such a line itself.
const boundary = "//"

// header is one header of a part, its name in canonical form.
type header struct{ name, value string }

// part is one document of an archive.
type part struct {
	headers []header
	body    string
	// line is where the body begins in the user's text, from 1.
	line int
}

func newPart(contentType, body string) part {
	return part{headers: []header{{"Content-Type", contentType}}, body: body, line: 1}
}

// mediaType is the part's type without its parameters; empty when it has none.
func (p *part) mediaType() string {
	for _, h := range p.headers {
		if h.name == "Content-Type" {
			kind, _, _ := strings.Cut(h.value, ";")
			return strings.ToLower(strings.TrimSpace(kind))
		}
	}
	return ""
}

// decoded is the body without its transfer encoding. readable is false when that can't be undone, or leaves something
// that is no text, such as what gzip writes.
func (p *part) decoded() (text string, readable bool) {
	encoding := ""
	for _, h := range p.headers {
		if h.name == "Content-Transfer-Encoding" {
			encoding = strings.ToLower(h.value)
			break
		}
	}
	var decoded []byte
	var err error
	switch encoding {
	case "base64":
		decoded, err = base64.StdEncoding.DecodeString(strings.Join(strings.Fields(p.body), ""))
	case "quoted-printable":
		decoded, err = io.ReadAll(quotedprintable.NewReader(strings.NewReader(p.body)))
	default:
		return p.body, true
	}
	return string(decoded), err == nil && utf8.Valid(decoded)
}

// typeOfText says what type a text has that is no archive.
type typeOfText func(c *Config, warn func(string, ...any), text string) (contentType string, err error)

// userParts reads the user's own data: an archive is taken apart, other text is one part of the type that typeOf tells,
// and nothing is no part. Carriage returns are dropped, so that lines end as Linux expects.
func userParts(c *Config, warn func(string, ...any), typeOf typeOfText) ([]part, error) {
	text := strings.ReplaceAll(c.UserData, "\r", "")
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return nil, nil
	}
	if !isArchive(trimmed) {
		contentType, err := typeOf(c, warn, text)
		if err != nil {
			return nil, err
		}
		return []part{newPart(contentType, text)}, nil
	}
	before := strings.Count(text[:strings.Index(text, trimmed)], "\n")
	return readArchive(c, warn, trimmed, before+1)
}

// isArchive tells an archive by its first line. Names of headers are the same in any case.
func isArchive(text string) bool {
	for _, name := range []string{"MIME-Version:", "Content-Type:"} {
		if len(text) >= len(name) && strings.EqualFold(text[:len(name)], name) {
			return true
		}
	}
	return false
}

// writeArchive puts parts together.
func writeArchive(parts []part) string {
	separator := separatorFor(parts)
	var b strings.Builder
	b.WriteString("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"" + separator + "\"\n")
	for _, p := range parts {
		b.WriteString("\n--" + separator + "\n")
		for _, h := range p.headers {
			b.WriteString(h.name + ": " + h.value + "\n")
		}
		b.WriteString("\n" + p.body)
	}
	b.WriteString("\n--" + separator + "--\n")
	return b.String()
}

// separatorFor is boundary, or boundary with the first number after it that no line of a part begins with: a part may
// be an archive itself.
func separatorFor(parts []part) string {
	taken := make(map[string]bool)
	for _, p := range parts {
		for line := range strings.SplitSeq(p.body, "\n") {
			rest, ok := strings.CutPrefix(line, "--"+boundary)
			if !ok {
				continue
			}
			taken[""] = true
			// Readers may look no further than the boundary's own length.
			for n := 1; n <= len(rest) && n <= 9 && rest[n-1] >= '0' && rest[n-1] <= '9'; n++ {
				taken[rest[:n]] = true
			}
		}
	}
	separator := ""
	for n := 1; taken[separator]; n++ {
		separator = strconv.Itoa(n)
	}
	return boundary + separator
}
