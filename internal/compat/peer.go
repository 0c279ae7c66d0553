package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// edit replaces a piece of text in a file of a release. The piece must occur exactly once, so that changes in a new release are noticed.
type edit struct {
	file, old, new string
}

// addition copies a file or folder of this module into the copy of a release.
type addition struct {
	from, to string
}

// peer is a released module with suites that are run here. They run from a patched copy of the module.
type peer struct {
	module    string
	edits     []edit
	additions []addition
}

func karpenter() peer {
	return peer{
		module: "sigs.k8s.io/karpenter",
		edits: []edit{
			{"pkg/test/environment.go", "\t_ = lo.Must(environment.Start())\n",
				"\tif environment.Scheme != nil {\n\t\treturn newEnvironmentInMemory(opts.crds, version, cancel)\n\t}\n\t_ = lo.Must(environment.Start())\n"},
			{"pkg/test/environment.go", "\treturn e.Environment.Stop()\n", "\treturn nil\n"},
			{"pkg/controllers/provisioning/scheduling/scheduler.go", "\tcachedResourceClaims map[types.NamespacedName]*resourcev1.ResourceClaim\n}",
				"\tcachedResourceClaims map[types.NamespacedName]*resourcev1.ResourceClaim\n\n\tcompatNodePools  []*v1.NodePool\n\tcompatStateNodes []*state.StateNode\n\tcompatSimulation bool\n}"},
			{"pkg/controllers/provisioning/scheduling/scheduler.go", "\tnpByName := lo.SliceToMap(nodePools,",
				"\ts.compatNodePools, s.compatStateNodes = nodePools, stateNodes\n\ts.compatSimulation = s.reservedOfferingMode != ReservedOfferingModeStrict || option.Resolve(opts...).enforceConsolidateAfter\n\tnpByName := lo.SliceToMap(nodePools,"},
			{"pkg/controllers/provisioning/scheduling/scheduler.go", "\tpodErrors := map[*corev1.Pod]error{}\n\t// Reset the metric",
				"\tpodErrors := map[*corev1.Pod]error{}\n\tif planner.Enabled() {\n\t\treturn s.solveWithPlanner(ctx, pods)\n\t}\n\tplanner.Reached()\n\t// Reset the metric"},
			{"pkg/controllers/provisioning/scheduling/scheduler.go", "\t\"sigs.k8s.io/karpenter/pkg/cloudprovider\"\n",
				"\t\"sigs.k8s.io/karpenter/pkg/cloudprovider\"\n\t\"sigs.k8s.io/karpenter/pkg/compat/planner\"\n"},
			{"pkg/controllers/disruption/controller.go", "\t// Attempt different disruption methods.",
				"\tif planner.DisruptionEnabled() {\n\t\treturn c.disruptWithPlanner(ctx)\n\t}\n\tplanner.Reached()\n\t// Attempt different disruption methods."},
			{"pkg/controllers/disruption/controller.go", "\t\"sigs.k8s.io/karpenter/pkg/cloudprovider\"\n",
				"\t\"sigs.k8s.io/karpenter/pkg/cloudprovider\"\n\t\"sigs.k8s.io/karpenter/pkg/compat/planner\"\n"},
			{"pkg/controllers/provisioning/scheduling/nodeclaimtemplate.go", "\tIsStaticNodeClaim   bool\n",
				"\tIsStaticNodeClaim   bool\n\n\tcompatClaim *v1.NodeClaim\n"},
			{"pkg/controllers/provisioning/scheduling/nodeclaimtemplate.go", "func (i *NodeClaimTemplate) ToNodeClaim() *v1.NodeClaim {\n",
				"func (i *NodeClaimTemplate) ToNodeClaim() *v1.NodeClaim {\n\tif i.compatClaim != nil {\n\t\treturn i.compatClaim\n\t}\n"},
		},
		additions: []addition{
			{"planner", "pkg/compat/planner"},
			{"patches/disrupt.go.txt", "pkg/controllers/disruption/compat.go"},
			{"cluster", "pkg/compat/cluster"},
			{"patches/environment.go.txt", "pkg/test/compat.go"},
			{"patches/solve.go.txt", "pkg/controllers/provisioning/scheduling/compat.go"},
		},
	}
}

func provider() peer {
	return peer{
		module: "github.com/aws/karpenter-provider-aws",
		edits: []edit{
			{"pkg/apis/v1/suite_test.go", "\tawsEnv = test.NewEnvironment(ctx, env)\n", ""},
			{"pkg/apis/v1/suite_test.go", "var awsEnv *test.Environment\n", ""},
			{"pkg/apis/v1/suite_test.go", "\tctx = options.ToContext(ctx, test.Options())\n", ""},
			{"pkg/apis/v1/suite_test.go", "\t\"github.com/aws/karpenter-provider-aws/pkg/operator/options\"\n", ""},
			{"pkg/apis/v1/suite_test.go", "\t\"github.com/aws/karpenter-provider-aws/pkg/test\"\n", ""},
		},
	}
}

// unpack copies the module from the module cache to dir, and patches the copy.
func (p peer) unpack(here, dir string) error {
	from, err := moduleFolder(here, p.module)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := copyTree(from, dir); err != nil {
		return err
	}
	for _, e := range p.edits {
		if err := e.apply(dir); err != nil {
			return fmt.Errorf("patching %s: %w", p.module, err)
		}
	}
	for _, a := range p.additions {
		if err := copyTree(filepath.Join(here, a.from), filepath.Join(dir, a.to)); err != nil {
			return err
		}
	}
	return nil
}

func (e edit) apply(dir string) error {
	path := filepath.Join(dir, e.file)
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if n := strings.Count(string(data), e.old); n != 1 {
		return fmt.Errorf("%s has %q %d times, want once: look at what the release changed", e.file, e.old, n)
	}
	return os.WriteFile(path, []byte(strings.Replace(string(data), e.old, e.new, 1)), 0o644)
}

// moduleFolder returns the folder of the module in the module cache, at the version in go.mod. It downloads the module if necessary.
func moduleFolder(here, module string) (string, error) {
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Dir = here
	out, err := cmd.Output()
	var got struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &got); jsonErr != nil || got.Error != "" || err != nil {
		return "", &unreachableError{module: module, why: strings.TrimSpace(got.Error + " " + fmt.Sprint(err))}
	}
	return got.Dir, nil
}

// moduleVersion returns the version of the module in go.mod.
func moduleVersion(here, module string) (string, error) {
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Version}}", module)
	cmd.Dir = here
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// unreachableError says that a released module is not in the module cache and can't be downloaded.
type unreachableError struct{ module, why string }

func (e *unreachableError) Error() string {
	return fmt.Sprintf("cannot download %s: %s", e.module, e.why)
}

// copyTree copies a file, or the Go files of a folder and the files that they embed, so that the copies can be changed.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if d.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o644)
	})
}
