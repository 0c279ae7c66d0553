// Package images reads for which architectures the images of pods are built, and prevents pods from being planned on nodes of other
// architectures.
//
// Stability: internal.
package images

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Known contains the architectures of images, by normalised name.
type Known map[string][]string

// Bounds of Read.
const (
	mostBytes  = 64 << 20
	mostImages = 100_000
)

// Read reads a file of images. Each of its documents maps names of images to architectures. An image has a list of architectures, or the
// manifest that a registry stores for it (an OCI image index, or a manifest list of Docker). The documents are JSON values one after
// another, or YAML. If an image occurs twice, its last entry is used.
func Read(r io.Reader) (Known, error) {
	text, err := io.ReadAll(io.LimitReader(r, mostBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > mostBytes {
		return nil, fmt.Errorf("is larger than %d bytes", mostBytes)
	}
	known := Known{}
	if strings.HasPrefix(strings.TrimSpace(string(text)), "{") {
		decoder := json.NewDecoder(strings.NewReader(string(text)))
		for {
			var document map[string]json.RawMessage
			err := decoder.Decode(&document)
			if errors.Is(err, io.EOF) {
				return known, nil
			}
			if err != nil {
				return nil, err
			}
			if err := known.add(document); err != nil {
				return nil, err
			}
		}
	}
	var document map[string]json.RawMessage
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	return known, known.add(document)
}

// entry is a manifest that a registry stores for an image.
type entry struct {
	// Manifests has an entry for each platform of an image index.
	Manifests []struct {
		Platform struct {
			Architecture string `json:"architecture"`
			OS           string `json:"os"`
		} `json:"platform"`
	} `json:"manifests"`
	// Architecture is set in the configuration of a single image.
	Architecture string `json:"architecture"`
}

func (k Known) add(document map[string]json.RawMessage) error {
	for name, text := range document {
		list, err := architecturesIn(text)
		if err != nil {
			return fmt.Errorf("image %.200q: %w", name, err)
		}
		if k[normal(name)] = list; len(k) > mostImages {
			return fmt.Errorf("has more than %d images", mostImages)
		}
	}
	return nil
}

// architecturesIn returns the architectures of an entry, sorted.
func architecturesIn(text json.RawMessage) ([]string, error) {
	var list []string
	if json.Unmarshal(text, &list) != nil {
		var e entry
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, fmt.Errorf("must be a list of architectures, or an image index: %w", err)
		}
		list = append(list, e.Architecture)
		for _, m := range e.Manifests {
			// Skip attestations, which have the platform "unknown".
			if m.Platform.OS == "" || m.Platform.OS == "linux" || m.Platform.OS == "windows" {
				list = append(list, m.Platform.Architecture)
			}
		}
	}
	return checked(list)
}

// checked returns the names of architectures sorted, without "" and "unknown".
func checked(list []string) ([]string, error) {
	list = slices.DeleteFunc(list, func(a string) bool { return a == "" || a == "unknown" })
	for _, a := range list {
		if len(a) > 63 || strings.Trim(a, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return nil, fmt.Errorf("%.80q is not an architecture, such as amd64 or arm64", a)
		}
	}
	if len(list) == 0 {
		return nil, errors.New(`names no architecture: give at least one, such as amd64 or arm64`)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// normal returns the full name of an image: "nginx" is "docker.io/library/nginx:latest". A tag next to a digest is left out.
func normal(name string) string {
	name = strings.TrimSpace(name)
	host, rest, found := strings.Cut(name, "/")
	switch {
	case !found:
		name = "docker.io/library/" + name
	case host == "index.docker.io" || host == "registry-1.docker.io":
		name = "docker.io/" + rest
	case !strings.ContainsAny(host, ".:") && host != "localhost":
		name = "docker.io/" + name
	}
	base, digest, digested := strings.Cut(name, "@")
	tag := strings.LastIndexByte(base, ':')
	if tag < strings.LastIndexByte(base, '/') {
		tag = -1
	}
	switch {
	case digested && tag >= 0:
		return base[:tag] + "@" + digest
	case digested:
		return name
	case tag < 0:
		return name + ":latest"
	}
	return name
}
