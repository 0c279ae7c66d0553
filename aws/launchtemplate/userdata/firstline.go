package userdata

import "strings"

const (
	contentTypeScript      = `text/x-shellscript; charset="us-ascii"`
	contentTypeCloudConfig = `text/cloud-config; charset="us-ascii"`
)

// firstLines maps the first lines by which cloud-init recognizes the type of a text to those types. Longer lines come before shorter lines
// that are their prefixes.
var firstLines = [...]struct{ begins, mediaType string }{
	{"#include-once", "text/x-include-once-url"},
	{"#include", "text/x-include-url"},
	{"#cloud-config-archive", "text/cloud-config-archive"},
	{"#cloud-config-jsonp", "text/cloud-config-jsonp"},
	{"#cloud-config", "text/cloud-config"},
	{"#cloud-boothook", "text/cloud-boothook"},
	{"#part-handler", "text/part-handler"},
	{"## template: jinja", "text/jinja2"},
}

// typeByFirstLine returns the type of a text that is not an archive: a script, unless cloud-init recognizes another type by its first line.
// PowerShell is refused, because Linux images can't run it.
func typeByFirstLine(c *Config, warn func(string, ...any), text string) (contentType string, err error) {
	lead := len(text) - len(strings.TrimLeft(text, " \t\n"))
	first, _, _ := strings.Cut(text[lead:], "\n")
	first = strings.ToLower(strings.TrimRight(first, " \t"))
	for _, f := range firstLines {
		if first == f.begins || strings.HasPrefix(first, f.begins+" ") && strings.HasPrefix(f.begins, "##") {
			return f.mediaType + `; charset="us-ascii"`, nil
		}
	}
	switch {
	case strings.HasPrefix(first, "<powershell>"), strings.HasPrefix(first, "<script>"):
		return "", c.malformed(1+strings.Count(text[:lead], "\n"), 0,
			"is for Windows: give the class a Windows image, or write a shell script that begins with #!")
	case !strings.HasPrefix(first, "#!"):
		warn("userData: is taken for a shell script, but does not begin with #!, without which cloud-init can't run it")
	}
	return contentTypeScript, nil
}
