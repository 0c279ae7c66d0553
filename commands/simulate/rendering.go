package simulate

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/drawknife/drawknife/commands/simulate/internal/render"
	"github.com/drawknife/drawknife/scheduling/manifests"
)

// rendering says whether folders of Kustomize and Helm are rendered.
type rendering struct {
	asked bool
	// values are the names of the files with values for Helm.
	values []string
}

// addFlags declares --render and --helm-values.
func (r *rendering) addFlags(flags *flag.FlagSet) {
	flags.BoolVar(&r.asked, "render", false, "render folders of Kustomize and Helm in the input with your own kustomize, kubectl or helm")
	flags.Func("helm-values", "with --render: `FILE` of values for charts; repeatable", func(file string) error {
		if file == "" {
			return errors.New("needs the name of a file")
		}
		r.values = append(r.values, file)
		return nil
	})
}

func (r *rendering) check() error {
	if len(r.values) > 0 && !r.asked {
		return errors.New("--helm-values: use it only with --render")
	}
	return nil
}

// readFiles reads files and folders. With --render, the user's own tools render the folders of Kustomize and Helm in them.
func (s *simulation) readFiles(ctx context.Context, paths []string) ([]manifests.Source, error) {
	layout, err := render.Find(paths)
	if !s.rendering.asked {
		if err == nil {
			s.noteRenderable(layout)
		}
		return manifests.Files(paths...)
	}
	if err != nil {
		return nil, err
	}
	for _, unused := range layout.Unused {
		s.warn(fmt.Sprintf("%s is not rendered: nothing refers to it, or it is a chart inside of a folder of Kustomize, or a library", unused),
			planNote{Code: "NotRendered", Object: unused, Message: "not rendered: nothing refers to it, or it is a chart inside of a folder of Kustomize, or a library"})
	}
	options := render.DefaultOptions()
	options.Values = s.rendering.values
	for _, folder := range layout.Folders {
		s.note("Rendered", "%s: planning what %q prints", folder.Path, strings.Join(folder.Command(options.Values), " "))
	}
	if n := len(layout.Folders); n > 0 {
		s.progress.Enter("rendering " + counted(n, "folder"))
	}
	rendered, err := render.All(ctx, layout.Folders, options)
	if err != nil {
		return nil, err
	}
	read, err := manifests.Files(layout.Files...)
	return append(rendered, read...), err
}

// shownRenderable is the number of Kustomize and Helm folders that a note lists.
const shownRenderable = 5

// noteRenderable says which folders of the input --render would render.
func (s *simulation) noteRenderable(layout *render.Layout) {
	var names []string
	for _, folder := range layout.Folders[:min(len(layout.Folders), shownRenderable)] {
		names = append(names, fmt.Sprintf("%s (%s)", folder.Path, folder.Tool))
	}
	if more := len(layout.Folders) - len(names); more > 0 {
		names = append(names, counted(more, "more folder"))
	}
	if len(names) > 0 {
		s.note("NotRendered", "--render plans what your own tools make of %s", strings.Join(names, ", "))
	}
}
