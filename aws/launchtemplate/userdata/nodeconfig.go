package userdata

import (
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// nodeConfigOrScript returns the type of a text for AL2023 that is not an archive. A text that begins like a script is a script, even if it
// is also valid YAML. A text with the apiVersion and kind of a NodeConfig is a NodeConfig. A text that was obviously meant as a NodeConfig
// but is invalid is refused: as a script it would only fail on the instance.
func nodeConfigOrScript(c *Config, warn func(string, ...any), text string) (contentType string, err error) {
	if strings.HasPrefix(strings.TrimLeft(text, " \t\n"), "#!") {
		return contentTypeScript, nil
	}
	fields, err := nodeConfigFields(text)
	if err != nil {
		if meantAsNodeConfig.MatchString(text) {
			return "", malformedYAML(c, err, text, 1)
		}
		return typeByFirstLine(c, warn, text)
	}
	group := strings.HasPrefix(fields.apiVersion, nodeConfigGroupPrefix)
	switch {
	case group && fields.kind == nodeConfigKind:
		if fields.secondDocument > 0 {
			return "", c.malformed(fields.secondDocument, 0, "nodeadm reads one document: write a MIME archive with a part for each NodeConfig")
		}
		return mediaTypeNodeConfig, nil
	case group || fields.kind == nodeConfigKind || fields.hasSpec:
		return "", c.malformed(fields.line, 0, "is YAML like a NodeConfig, but none: write apiVersion: %s and kind: %s, or begin a script with #!",
			nodeConfigAPIVersion, nodeConfigKind)
	}
	return typeByFirstLine(c, warn, text)
}

// meantAsNodeConfig matches text that does not occur in a script by chance.
var meantAsNodeConfig = regexp.MustCompile(`(?m)^[ {]*"?(apiVersion"?:[ \t]*["']?node\.eks\.aws/|kind"?:[ \t]*["']?NodeConfig)`)

// nodeConfigHeader contains the properties that distinguish a NodeConfig from other YAML.
type nodeConfigHeader struct {
	apiVersion, kind string
	// hasSpec means that the document has a spec with one of nodeadm's blocks.
	hasSpec bool
	// line is the line on which the mapping begins, and secondDocument the line on which a second document begins. Lines are counted from
	// 1; 0 means that the document does not exist.
	line, secondDocument int
}

// nodeConfigFields parses the first document. A document that is not a mapping has no fields. The error is that of the YAML reader.
func nodeConfigFields(text string) (nodeConfigHeader, error) {
	decoder := yaml.NewDecoder(strings.NewReader(text))
	var document, second yaml.Node
	if err := decoder.Decode(&document); err != nil {
		if errors.Is(err, io.EOF) {
			return nodeConfigHeader{}, nil
		}
		return nodeConfigHeader{}, err
	}
	var h nodeConfigHeader
	if document.Kind != yaml.DocumentNode || len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return h, nil
	}
	root := document.Content[0]
	h.line = root.Line
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		switch key.Value {
		case "apiVersion":
			h.apiVersion = value.Value
		case "kind":
			h.kind = value.Value
		case "spec":
			h.hasSpec = hasNodeConfigBlock(value)
		}
	}
	switch err := decoder.Decode(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		return h, err
	default:
		h.secondDocument = second.Line
	}
	return h, nil
}

func hasNodeConfigBlock(spec *yaml.Node) bool {
	if spec.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i+1 < len(spec.Content); i += 2 {
		switch spec.Content[i].Value {
		case "cluster", "containerd", "featureGates", "instance", "kubelet":
			return true
		}
	}
	return false
}

// checkNodeConfig refuses a document of an archive that nodeadm could not parse; firstLine is the document's first line in the whole text.
func checkNodeConfig(c *Config, text string, firstLine int) error {
	h, err := nodeConfigFields(text)
	if err != nil {
		return malformedYAML(c, err, text, firstLine)
	}
	if h.kind != nodeConfigKind || !strings.HasPrefix(h.apiVersion, nodeConfigGroupPrefix) {
		return c.malformed(firstLine+max(h.line, 1)-1, 0, "a part of type %s contains no NodeConfig: write apiVersion: %s and kind: %s",
			mediaTypeNodeConfig, nodeConfigAPIVersion, nodeConfigKind)
	}
	if h.secondDocument > 0 {
		return c.malformed(firstLine+h.secondDocument-1, 0, "nodeadm reads one document: give each NodeConfig a part of its own")
	}
	return nil
}

var yamlErrorLine = regexp.MustCompile(`line ([0-9]+)`)

// malformedYAML returns an error with the line from the YAML reader's error. It drops the message, which may quote the text.
func malformedYAML(c *Config, err error, text string, firstLine int) error {
	line := firstLine
	if found := yamlErrorLine.FindStringSubmatch(err.Error()); found != nil {
		if n, err := strconv.Atoi(found[1]); err == nil {
			line = firstLine + n - 1
		}
		// The YAML reader counts lines from 0 in grammar errors, and from 1 in scanner errors.
		if strings.Contains(err.Error(), "did not find expected") {
			line++
		}
	}
	line = min(line, firstLine+strings.Count(strings.TrimRight(text, " \n"), "\n"))
	return c.malformed(line, 0, "is not YAML: check the indentation, the quotes and the brackets here and just before")
}
