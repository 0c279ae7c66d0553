package userdata

import (
	"encoding/base64"
	"io"
	"mime/quotedprintable"
	"strconv"
	"strings"
	"unicode/utf8"
)

// boundary separates the parts. If a part contains a line that begins with it, separatorFor returns another separator.
const boundary = "//"

// header is one header of a part, its name in canonical form.
type header struct{ name, value string }

// part is one document of an archive.
type part struct {
	headers []header
	body    string
	// line is the line of the user's text in which the body begins, from 1.
	line int
}

func newPart(contentType, body string) part {
	return part{headers: []header{{"Content-Type", contentType}}, body: body, line: 1}
}

// mediaType returns the part's type without its parameters, or "" if it has none.
func (p *part) mediaType() string {
	for _, h := range p.headers {
		if h.name == "Content-Type" {
			kind, _, _ := strings.Cut(h.value, ";")
			return strings.ToLower(strings.TrimSpace(kind))
		}
	}
	return ""
}

// decoded returns the body without its transfer encoding. readable is false if the body can't be decoded, or if the result is not text,
// such as the output of gzip.
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

// typeOfText returns the type of a text that is not an archive.
type typeOfText func(c *Config, warn func(string, ...any), text string) (contentType string, err error)

// userParts parses the user's own data: an archive becomes its parts, other text becomes one part of the type that typeOf returns, and
// empty data becomes no part. Carriage returns are removed, because Linux expects lines without them.
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

// isArchive recognises an archive by its first line. Names of headers are case-insensitive.
func isArchive(text string) bool {
	for _, name := range []string{"MIME-Version:", "Content-Type:"} {
		if len(text) >= len(name) && strings.EqualFold(text[:len(name)], name) {
			return true
		}
	}
	return false
}

// writeArchive writes parts as an archive.
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

// separatorFor returns boundary if no line of a part begins with it. If a line begins with boundary, for example because a part is itself
// an archive, it appends the first number that makes the separator unique.
func separatorFor(parts []part) string {
	taken := make(map[string]bool)
	for _, p := range parts {
		for line := range strings.SplitSeq(p.body, "\n") {
			rest, ok := strings.CutPrefix(line, "--"+boundary)
			if !ok {
				continue
			}
			taken[""] = true
			// Readers may compare the boundary only with the beginning of a line. So a line that ends in 12 excludes the numbers 1 and 12.
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
