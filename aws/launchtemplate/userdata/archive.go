package userdata

import (
	"fmt"
	"mime"
	"net/textproto"
	"regexp"
	"slices"
	"strings"
)

// archiveReader parses a multipart message, line by line. A node has two readers: nodeadm uses Go's mime/multipart, and cloud-init uses
// Python's email, which accepts almost anything. archiveReader accepts every syntax that at least one of them accepts. A syntax that only
// one of them accepts is an oddity. It causes a warning, because the archive is written again without it.
type archiveReader struct {
	c     *Config
	lines []string
	// The field at is the index of the next line; the field first is the number of the first line in the user's text.
	at, first int
	// odd has the number of the first line with each kind of oddity, by the message about that kind.
	odd map[string]int
}

// next returns the next line. ok is false at the end.
func (r *archiveReader) next() (line string, ok bool) {
	if r.at == len(r.lines) {
		return "", false
	}
	r.at++
	return r.lines[r.at-1], true
}

// number returns the number of the line that next returned last.
func (r *archiveReader) number() int { return r.first + r.at - 1 }

// note records an oddity of the line that next returned last. Each kind of oddity is reported only once, because a text can have thousands
// of oddities.
func (r *archiveReader) note(what string) {
	if _, told := r.odd[what]; !told {
		r.odd[what] = r.number()
	}
}

// oddities returns the warnings, in the order of their lines.
func (r *archiveReader) oddities() []string {
	var all []string
	for what, line := range r.odd {
		all = append(all, fmt.Sprintf("%08d%s", line, what))
	}
	slices.Sort(all)
	for i, text := range all {
		all[i] = fmt.Sprintf("userData, line %s: %s", strings.TrimLeft(text[:8], "0"), text[8:])
	}
	return all
}

// readArchive parses a multipart message. It does not use Go's reader, so that it can name the line of an oddity.
func readArchive(c *Config, warn func(string, ...any), text string, firstLine int) ([]part, error) {
	r := &archiveReader{c: c, lines: strings.Split(text, "\n"), first: firstLine, odd: make(map[string]int)}
	top, err := r.readHeaders("")
	if err != nil {
		return nil, err
	}
	if !top.ended {
		return nil, c.malformed(r.number(), 0, "the archive ends among headers: end them with an empty line")
	}
	contentType := contentTypeOf(top.headers)
	kind, parameters, err := mime.ParseMediaType(contentType)
	boundary := parameters["boundary"]
	if err != nil {
		kind, boundary = lenientBoundary(contentType)
		r.odd[`the boundary has to stand in quotes here: write boundary="…"`] = top.contentTypeLine
	}
	switch {
	case !strings.HasPrefix(kind, "multipart/"):
		return nil, c.malformed(top.contentTypeLine, 0, "begins like a MIME message, but its Content-Type is not multipart: "+
			`write Content-Type: multipart/mixed; boundary="//", or leave the headers out`)
	case boundary == "":
		return nil, c.malformed(top.contentTypeLine, 0, `the Content-Type names no boundary: add ; boundary="//"`)
	}
	parts, err := r.readParts("--" + boundary)
	if err != nil {
		return nil, err
	}
	for _, text := range r.oddities() {
		warn("%s", text)
	}
	return parts, nil
}

// unquotedBoundary matches a boundary with characters that need quotes but have none. Python accepts it.
var unquotedBoundary = regexp.MustCompile(`(?i)^[ \t]*(multipart/[a-z0-9.+-]+)[ \t]*;(?:.*;)?[ \t]*boundary[ \t]*=[ \t]*([^"; \t]+)[ \t]*(?:;|$)`)

// lenientBoundary reads a Content-Type that Go's mime package does not; kind is empty if it can't be read at all.
func lenientBoundary(contentType string) (kind, boundary string) {
	found := unquotedBoundary.FindStringSubmatch(contentType)
	if found == nil {
		return "", ""
	}
	return strings.ToLower(found[1]), found[2]
}

func contentTypeOf(headers []header) string {
	for _, h := range headers {
		if h.name == "Content-Type" {
			return h.value
		}
	}
	return ""
}

// delimiterKind is the kind of a line in an archive.
type delimiterKind int

const (
	noDelimiter delimiterKind = iota
	opensPart
	closesArchive
)

// delimiter returns the kind of a line. White space after a boundary is ignored.
func delimiter(line, boundary string) delimiterKind {
	switch strings.TrimRight(line, " \t") {
	case boundary:
		return opensPart
	case boundary + "--":
		return closesArchive
	}
	return noDelimiter
}

// readParts reads up to the closing line. Text before the first part and after the last part is ignored.
func (r *archiveReader) readParts(boundary string) ([]part, error) {
	for {
		line, ok := r.next()
		if !ok {
			r.note("no line is the boundary, so nothing of the archive is used: write -- and the boundary before each part")
			return nil, nil
		}
		kind := delimiter(line, boundary)
		if kind == closesArchive {
			if r.restIsBlank() {
				return nil, nil
			}
			r.note("closes the archive before its first part, so nothing of it is used: leave the -- after the boundary out")
			return nil, nil
		}
		if kind == opensPart {
			break
		}
	}
	var parts []part
	for {
		// A part begins with the line that was read last.
		opened := r.at
		if r.restIsBlank() {
			r.note("the last line opens another part instead of closing the archive: write -- after the boundary")
			return parts, nil
		}
		top, err := r.readHeaders(boundary)
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(top.headers, func(a, b header) int { return strings.Compare(a.name, b.name) })
		p := part{headers: top.headers, line: r.first + r.at}
		body, ended := r.readBody(boundary)
		p.body = strings.Join(body, "\n")
		switch {
		case r.at == opened+1 && ended == opensPart:
			r.note("the boundary occurs twice in a row: each one begins a part")
		case !top.ended && len(body) == 0 && len(top.headers) == 0:
		case !top.ended && ended == noDelimiter:
			r.note("the part ends among its headers, and is left out: end them with an empty line")
		default:
			r.checkHeaders(p)
			parts = append(parts, p)
		}
		switch ended {
		case closesArchive:
			return parts, nil
		case noDelimiter:
			r.note("the archive ends without its closing line: add the boundary with -- before and after it")
			return parts, nil
		}
	}
}

// restIsBlank reports whether the remaining lines are only white space.
func (r *archiveReader) restIsBlank() bool {
	for _, line := range r.lines[r.at:] {
		if strings.TrimSpace(line) != "" {
			return false
		}
	}
	return true
}

// readBody reads up to the next delimiter, and returns its kind: noDelimiter at the end of the text.
func (r *archiveReader) readBody(boundary string) (lines []string, ended delimiterKind) {
	for {
		line, ok := r.next()
		if !ok {
			return lines, noDelimiter
		}
		if kind := delimiter(line, boundary); kind != noDelimiter {
			return lines, kind
		}
		if rest, looksLike := strings.CutPrefix(line, boundary); looksLike && (rest[0] == ' ' || rest[0] == '\t' || strings.HasPrefix(rest, "--")) {
			r.note("begins like the boundary but continues differently, so it counts as text: nodeadm refuses such an archive")
		}
		lines = append(lines, line)
	}
}

// checkHeaders warns about headers of a part that only some readers support.
func (r *archiveReader) checkHeaders(p part) {
	if strings.TrimSpace(p.body) != "" && p.mediaType() == "" {
		r.note("the part that ends here has no Content-Type: cloud-init derives the type from its first line, and nodeadm ignores the part")
	}
}

// headerBlock contains the headers of a part or an archive.
type headerBlock struct {
	headers []header
	// contentTypeLine is the line of the Content-Type, or else the line where the block begins.
	contentTypeLine int
	// ended means that the headers are followed by an empty line, or by a line that is not a header.
	ended bool
}

// readHeaders reads up to the empty line after the headers. A line that begins with white space continues the line before. A line that is
// not a header also ends the headers, as in Python, and belongs to the body.
func (r *archiveReader) readHeaders(boundary string) (headerBlock, error) {
	b := headerBlock{contentTypeLine: r.first + r.at}
	left := false // the previous header was left out, and so are its continuation lines
	for {
		line, ok := r.next()
		if !ok {
			return b, nil
		}
		if line == "" {
			b.ended = true
			return b, nil
		}
		if boundary != "" && delimiter(line, boundary) != noDelimiter {
			if len(b.headers) > 0 {
				r.note("the part ends among its headers: end them with an empty line")
			}
			r.at--
			return b, nil
		}
		if line[0] == ' ' || line[0] == '\t' {
			if left {
				continue
			}
			if len(b.headers) == 0 {
				r.note("is indented like the second line of a header, but has no first line, and is left out")
				continue
			}
			if hasControl(strings.ReplaceAll(line, "\t", " ")) {
				r.note("continues a header with characters that not every reader accepts, so the header is left out: write Name: value")
				left = true
				b.headers = b.headers[:len(b.headers)-1]
				continue
			}
			last := &b.headers[len(b.headers)-1]
			last.value = strings.TrimSpace(last.value + " " + strings.TrimSpace(line))
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c >= 0x7f }) {
			r.note("is not a header, so the headers end before it: write an empty line there")
			r.at--
			b.ended = true
			return b, nil
		}
		if !isHeaderName(name) || hasControl(strings.ReplaceAll(value, "\t", " ")) {
			r.note("is a header that not every reader accepts, and is left out: write Name: value")
			left = true
			continue
		}
		left = false
		name = textproto.CanonicalMIMEHeaderKey(name)
		if name == "Content-Type" {
			b.contentTypeLine = r.number()
		}
		b.headers = append(b.headers, header{name, strings.TrimSpace(value)})
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
