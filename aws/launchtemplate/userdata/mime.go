package userdata

import (
	"mime"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
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

// userParts reads the user's own data: an archive is taken apart, other text is one part of the type that kindOf tells,
// and nothing is no part (AWN-185). Carriage returns are dropped, so that lines end as Linux expects (AWN-181).
func userParts(c *Config, kindOf func(c *Config, text string) (contentType string, err error)) ([]part, error) {
	text := strings.ReplaceAll(c.UserData, "\r", "")
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return nil, nil
	}
	if !isArchive(trimmed) {
		contentType, err := kindOf(c, text)
		if err != nil {
			return nil, err
		}
		return []part{newPart(contentType, text)}, nil
	}
	before := strings.Count(text[:strings.Index(text, trimmed)], "\n")
	return readArchive(c, trimmed, before+1)
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

// lineReader walks over lines and knows their numbers.
type lineReader struct {
	lines []string
	// at is the index of the next line, first the number of line 0.
	at, first int
}

func (r *lineReader) next() (line string, ok bool) {
	if r.at == len(r.lines) {
		return "", false
	}
	r.at++
	return r.lines[r.at-1], true
}

// number is that of the line that next gave last.
func (r *lineReader) number() int { return r.first + r.at - 1 }

// readArchive takes a multipart message apart. It has a reader of its own because mime/multipart can't say where in the
// text it stumbled; what both take they read alike.
func readArchive(c *Config, text string, firstLine int) ([]part, error) {
	r := &lineReader{lines: strings.Split(text, "\n"), first: firstLine}
	headers, contentTypeLine, err := readHeaders(c, r)
	if err != nil {
		return nil, err
	}
	var contentType string
	for _, h := range headers {
		if h.name == "Content-Type" {
			contentType = h.value
			break
		}
	}
	kind, parameters, err := mime.ParseMediaType(contentType)
	if err != nil || !strings.HasPrefix(kind, "multipart/") {
		return nil, c.malformed(contentTypeLine, 0, "begins like a MIME message, but its Content-Type is not multipart: "+
			`write Content-Type: multipart/mixed; boundary="//", or leave the headers out`)
	}
	delimiter := "--" + parameters["boundary"]
	if delimiter == "--" {
		return nil, c.malformed(contentTypeLine, 0, `the Content-Type names no boundary: add ; boundary="//"`)
	}
	return readParts(c, r, delimiter)
}

// readParts reads up to the closing line. What stands before the first part and after the last means nothing.
func readParts(c *Config, r *lineReader, delimiter string) ([]part, error) {
	var parts []part
	var body []string
	for {
		line, ok := r.next()
		if !ok {
			return nil, c.malformed(r.number(), 0, "the archive ends without its closing line: add the boundary with -- before and after it")
		}
		end := strings.TrimRight(line, " \t")
		isEnd := end == delimiter+"--"
		if !isEnd && end != delimiter {
			body = append(body, line)
			continue
		}
		if len(parts) > 0 {
			parts[len(parts)-1].body = strings.Join(body, "\n")
		}
		if isEnd {
			return parts, nil
		}
		headers, _, err := readHeaders(c, r)
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(headers, func(a, b header) int { return strings.Compare(a.name, b.name) })
		parts, body = append(parts, part{headers: headers, line: r.number() + 1}), nil
	}
}

// readHeaders reads up to the empty line that ends them, and tells where the Content-Type stands, or else where the
// headers begin. A line that begins with white space goes on with the one before.
func readHeaders(c *Config, r *lineReader) (headers []header, contentTypeLine int, err error) {
	contentTypeLine = r.first + r.at
	for {
		line, ok := r.next()
		switch {
		case !ok:
			return nil, 0, c.malformed(r.number(), 0, "the archive ends among headers: end them with an empty line")
		case line == "":
			return headers, contentTypeLine, nil
		case line[0] == ' ' || line[0] == '\t':
			if len(headers) == 0 {
				return nil, 0, c.malformed(r.number(), 0, "is indented like the second line of a header, and there is no first")
			}
			last := &headers[len(headers)-1]
			last.value = strings.TrimSpace(last.value + " " + strings.TrimSpace(line))
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || !isHeaderName(name) || hasControl(strings.ReplaceAll(value, "\t", " ")) {
			return nil, 0, c.malformed(r.number(), 0, "is not a header: write Name: value, and an empty line after the last")
		}
		name = textproto.CanonicalMIMEHeaderKey(name)
		if name == "Content-Type" {
			contentTypeLine = r.number()
		}
		headers = append(headers, header{name, strings.TrimSpace(value)})
	}
}

func isHeaderName(name string) bool {
	if name == "" {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	})
}

// writeArchive puts parts together (AWN-184).
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
