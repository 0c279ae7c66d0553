//go:build unix

package render

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/scheduling/manifests"
)

// withTools makes PATH a folder that has only these programs, as scripts of the shell.
func withTools(t *testing.T, scripts map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
}

const echo = `printf '%s' "$0" | { IFS= read -r name; printf '%s' "${name##*/}"; }; printf ' %s' "$@"`

func TestAll(t *testing.T) {
	folders := []Folder{{"deploy/base", Kustomize}, {"deploy/My_Chart", Helm}}
	for name, c := range map[string]struct {
		tools map[string]string
		want  []manifests.Source
	}{
		"kustomize": {map[string]string{"kustomize": echo, "kubectl": "exit 1", "helm": echo}, []manifests.Source{
			{Name: "kustomize build deploy/base", Data: []byte("kustomize build deploy/base")},
			{Name: "helm template my-chart deploy/My_Chart --values v.yaml", Data: []byte("helm template my-chart deploy/My_Chart --values v.yaml")},
		}},
		"kubectl": {map[string]string{"kubectl": echo, "helm": "echo a warning >&2"}, []manifests.Source{
			{Name: "kubectl kustomize deploy/base", Data: []byte("kubectl kustomize deploy/base")},
			{Name: "helm template my-chart deploy/My_Chart --values v.yaml"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			withTools(t, c.tools)
			options := DefaultOptions()
			options.Values = []string{"v.yaml"}
			got, err := All(context.Background(), folders, options)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAllFails(t *testing.T) {
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	for name, c := range map[string]struct {
		ctx    context.Context
		tools  map[string]string
		folder Folder
		change func(*Options)
		is     error
		says   string
	}{
		"without helm":          {nil, nil, Folder{"c", Helm}, nil, exec.ErrNotFound, `rendering c needs helm, which is in no folder of PATH: install it, or plan what "helm template c c" prints elsewhere`},
		"without kustomize":     {nil, nil, Folder{"k", Kustomize}, nil, exec.ErrNotFound, "needs kustomize or kubectl"},
		"an error of the tool":  {nil, map[string]string{"helm": "echo partly; echo no chart >&2; exit 3"}, Folder{"c", Helm}, nil, nil, "helm template c c: exit status 3: no chart"},
		"many messages":         {nil, map[string]string{"helm": "i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789 >&2; i=$((i+1)); done; exit 1"}, Folder{"c", Helm}, nil, nil, "exit status 1"},
		"endless output":        {nil, map[string]string{"helm": "while :; do echo 0123456789; done"}, Folder{"c", Helm}, func(o *Options) { o.MaxBytes, o.Timeout = 1000, 30*time.Second }, errTooLarge, "1000 bytes"},
		"no end":                {nil, map[string]string{"helm": "while :; do :; done"}, Folder{"c", Helm}, func(o *Options) { o.Timeout = 50 * time.Millisecond }, errTooLong, "50ms"},
		"a user who interrupts": {canceled, map[string]string{"helm": "exit 0"}, Folder{"c", Helm}, nil, context.Canceled, "helm template"},
	} {
		t.Run(name, func(t *testing.T) {
			withTools(t, c.tools)
			options := DefaultOptions()
			if c.change != nil {
				c.change(&options)
			}
			ctx := c.ctx
			if ctx == nil {
				ctx = context.Background()
			}
			_, err := All(ctx, []Folder{c.folder}, options)
			var fault *Error
			if !errors.As(err, &fault) || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) || len(err.Error()) > 9<<10 {
				t.Errorf("%.1000v", err)
			}
		})
	}
}

func TestReleaseNames(t *testing.T) {
	for path, want := range map[string]string{"a/Web_App": "web-app", "x/--": "release", "1.2": "1-2", strings.Repeat("n", 60): strings.Repeat("n", 53)} {
		if got := releaseName(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	withTools(t, nil)
	if got := (Folder{"-rf", Kustomize}).Command(nil); got[2] != "./-rf" {
		t.Errorf("%q: a folder is taken for a flag", got)
	}
}
