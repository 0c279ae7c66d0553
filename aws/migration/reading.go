package migration

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"sigs.k8s.io/yaml"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// reading contains the settings and other parts that an instance reads from its user data.
type reading struct {
	// settings are the values by their path: "kubelet.config.maxPods", "labels.team", "taints.key=value:effect".
	settings map[string]string
	// parts contains the kind of each archive part without settings. Keys are hashes of the content, because the content may be secret.
	parts map[string]string
}

func newReading() reading { return reading{settings: map[string]string{}, parts: map[string]string{}} }

// readUserData extracts the settings from the user data of a family, so that layout, order and quotes do not matter.
func readUserData(family awsv1.AMIFamily, text string) (reading, error) {
	r := newReading()
	switch {
	case family == awsv1.AMIFamilyCustom:
		r.part("user data", text)
		return r, nil
	case family == awsv1.AMIFamilyBottlerocket:
		return r, r.bottlerocket(text)
	case family.IsWindows():
		r.windows(text)
		return r, nil
	}
	parts, err := karpenterParts(text)
	if err != nil {
		return r, err
	}
	config := map[string]any{}
	for _, p := range parts {
		switch {
		case p.mediaType == nodeConfigType:
			if err := r.nodeConfig(config, p.body); err != nil {
				return r, err
			}
		case strings.Contains(p.body, bootstrapScript):
			r.bootstrap(p.body)
		default:
			r.part(p.mediaType, p.body)
		}
	}
	r.flatten("", config)
	return r, nil
}

// nodeConfigType is the media type of nodeadm's configuration.
const nodeConfigType = "application/node.eks.aws"

// bootstrapScript is the script that the user data of AL2 calls.
const bootstrapScript = "/etc/eks/bootstrap.sh"

// mimePart is a part of an archive.
type mimePart struct{ mediaType, body string }

// karpenterParts reads an archive in the same way as Karpenter and nodeadm: with the readers of Go's standard library. A text that is not
// an archive becomes one part without a media type. If an archive lacks its closing line, it returns the parts that it has read.
func karpenterParts(text string) ([]mimePart, error) {
	if !strings.HasPrefix(strings.TrimLeft(text, "\r\n\t "), "MIME-Version:") && !strings.HasPrefix(strings.TrimLeft(text, "\r\n\t "), "Content-Type: multipart") {
		return []mimePart{{body: text}}, nil
	}
	message, err := mail.ReadMessage(strings.NewReader(strings.TrimLeft(text, "\r\n\t ")))
	if err != nil {
		return nil, fmt.Errorf("reading the headers of the archive: %w", err)
	}
	_, parameters, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil {
		return nil, fmt.Errorf("reading the Content-Type of the archive: %w", err)
	}
	reader := multipart.NewReader(message.Body, parameters["boundary"])
	var out []mimePart
	for {
		p, err := reader.NextPart()
		if err != nil {
			if isEnd(err) {
				return out, nil
			}
			return out, fmt.Errorf("reading part %d of the archive: %w", len(out)+1, err)
		}
		body, err := io.ReadAll(p)
		if err != nil && !isEnd(err) {
			return out, fmt.Errorf("reading part %d of the archive: %w", len(out)+1, err)
		}
		media, _, err := mime.ParseMediaType(p.Header.Get("Content-Type"))
		if err != nil {
			media = ""
		}
		out = append(out, mimePart{mediaType: media, body: string(body)})
	}
}

// part adds a part that contains no settings. White space at the ends of the body is ignored.
func (r *reading) part(kind, body string) {
	body = strings.TrimSpace(strings.ReplaceAll(body, "\r\n", "\n"))
	if body == "" {
		return
	}
	if kind == "" {
		kind = "a part without a Content-Type"
	}
	sum := sha256.Sum256([]byte(body))
	r.parts[hex.EncodeToString(sum[:])] = kind
}

// nodeConfig merges a NodeConfig into the earlier NodeConfigs, as nodeadm does: maps are merged, flags are added, and other values are
// replaced.
func (r *reading) nodeConfig(into map[string]any, body string) error {
	var document struct {
		Spec map[string]any `json:"spec"`
	}
	if err := yaml.Unmarshal([]byte(body), &document); err != nil {
		return fmt.Errorf("reading a NodeConfig: it is not valid YAML, or its spec is not a mapping")
	}
	if kubelet, ok := document.Spec["kubelet"].(map[string]any); ok {
		if flags, ok := kubelet["flags"].([]any); ok {
			for _, flag := range flags {
				r.flag(fmt.Sprint(flag))
			}
			delete(kubelet, "flags")
		}
	}
	merge(into, document.Spec)
	return nil
}

func merge(into, from map[string]any) {
	for key, value := range from {
		below, isMap := value.(map[string]any)
		already, wasMap := into[key].(map[string]any)
		if isMap && wasMap {
			merge(already, below)
			continue
		}
		into[key] = value
	}
}

// flatten adds the values of a tree by their path. Empty values are left out, because they are equal to missing values.
func (r *reading) flatten(path string, value any) {
	switch v := value.(type) {
	case nil:
	case map[string]any:
		for key, below := range v {
			next := key
			if path != "" {
				next = path + "." + key
			}
			r.flatten(next, below)
		}
	case []any:
		if strings.HasSuffix(path, "registerWithTaints") {
			for _, taint := range v {
				r.taintOf(taint)
			}
			return
		}
		if len(v) > 0 {
			r.settings[path] = fmt.Sprint(v)
		}
	default:
		if text := fmt.Sprint(v); text != "" {
			r.settings[path] = text
		}
	}
}

// taintOf adds a taint from a NodeConfig.
func (r *reading) taintOf(value any) {
	fields, ok := value.(map[string]any)
	if !ok {
		return
	}
	text := func(key string) string {
		if fields[key] == nil {
			return ""
		}
		return fmt.Sprint(fields[key])
	}
	r.taint(text("key"), text("value"), text("effect"))
}

func (r *reading) taint(key, value, effect string) {
	r.settings["taints."+key+"="+value+":"+effect] = "set"
}

// bootstrap reads the call of AL2's script: the arguments of the script and of the kubelet.
func (r *reading) bootstrap(script string) {
	_, call, _ := strings.Cut(script, bootstrapScript)
	words := shellWords(call)
	for i := 0; i < len(words); i++ {
		option, isOption := strings.CutPrefix(words[i], "--")
		switch {
		case !isOption && i == 0:
			r.settings["cluster.name"] = words[i]
		case option == "kubelet-extra-args" && i+1 < len(words):
			i++
			r.kubeletArguments(words[i])
		case isOption && i+1 < len(words):
			i++
			r.settings["bootstrap."+option] = words[i]
		}
	}
}

// kubeletArguments reads a command line of the kubelet.
func (r *reading) kubeletArguments(text string) {
	words := shellWords(text)
	for i := 0; i < len(words); i++ {
		if !strings.Contains(words[i], "=") && i+1 < len(words) && !strings.HasPrefix(words[i+1], "--") {
			r.flag(words[i] + "=" + words[i+1])
			i++
			continue
		}
		r.flag(words[i])
	}
}

// flag reads one flag of the kubelet. Quotes around the value come from the shell, so they are removed.
func (r *reading) flag(text string) {
	name, value, _ := strings.Cut(strings.TrimPrefix(text, "--"), "=")
	value = strings.Trim(value, `"'`)
	switch name {
	case "node-labels":
		for label := range strings.SplitSeq(value, ",") {
			key, value, _ := strings.Cut(label, "=")
			r.settings["labels."+key] = value
		}
	case "register-with-taints":
		for taint := range strings.SplitSeq(value, ",") {
			rest, effect, _ := strings.Cut(taint, ":")
			key, value, _ := strings.Cut(rest, "=")
			r.taint(key, value, effect)
		}
	default:
		pairs := strings.Split(value, ",")
		slices.Sort(pairs)
		r.settings["kubelet.flags."+name] = strings.Join(pairs, ",")
	}
}

// windows reads a block of PowerShell: the call of the start script, and the user's lines.
func (r *reading) windows(text string) {
	var rest []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "<powershell>" || line == "</powershell>" || strings.HasPrefix(line, "[string]$EKSBootstrapScriptFile"):
		case strings.Contains(line, "-EKSClusterName"):
			words := shellWords(line)
			for i := 0; i+1 < len(words); i++ {
				name, isOption := strings.CutPrefix(words[i], "-")
				switch {
				case !isOption:
				case name == "KubeletExtraArgs":
					i++
					r.kubeletArguments(words[i])
				default:
					i++
					r.settings["bootstrap."+name] = words[i]
				}
			}
		default:
			rest = append(rest, line)
		}
	}
	r.part("PowerShell", strings.Join(rest, "\n"))
}

// bottlerocket reads settings as TOML.
func (r *reading) bottlerocket(text string) error {
	var document map[string]any
	if err := toml.Unmarshal([]byte(text), &document); err != nil {
		return fmt.Errorf("reading the settings: they are not TOML")
	}
	if settings, ok := document["settings"].(map[string]any); ok {
		if kubernetes, ok := settings["kubernetes"].(map[string]any); ok {
			if labels, ok := kubernetes["node-labels"].(map[string]any); ok {
				for key, value := range labels {
					r.settings["labels."+key] = fmt.Sprint(value)
				}
				delete(kubernetes, "node-labels")
			}
			if taints, ok := kubernetes["node-taints"].(map[string]any); ok {
				for key, values := range taints {
					list, _ := values.([]any)
					for _, each := range list {
						value, effect, _ := strings.Cut(fmt.Sprint(each), ":")
						r.taint(key, value, effect)
					}
				}
				delete(kubernetes, "node-taints")
			}
		}
	}
	r.flatten("", document)
	return nil
}
