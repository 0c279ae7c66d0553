package rules_test

import (
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/internal/rules"
)

// root is the repository, seen from this package.
const root = "../.."

// with is the tree with the files of a nested module of this repository.
func with(t *testing.T, tree *rules.Tree, dir string) *rules.Tree {
	t.Helper()
	nested, err := rules.ParseTree(os.DirFS(filepath.Join(root, dir)))
	if err != nil {
		t.Fatal(err)
	}
	all, err := tree.With(dir, nested)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestRepository holds this very tree to the rules.
func TestRepository(t *testing.T) {
	tree, err := rules.ParseTree(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	for name, rule := range map[string]func(*rules.Tree) []rules.Fault{
		"imports point down":           rules.CheckFloors,
		"planning needs no AWS SDK":    rules.CheckAWSSDK,
		"planning knows no cloud":      rules.CheckNoCloud,
		"no hidden code":               rules.CheckHiddenCode,
		"planners are pure":            rules.CheckPurity,
		"no shared state":              rules.CheckState,
		"exported names are explained": rules.CheckDocs,
		"packages show their use":      rules.CheckPackageDocs,
		"packages say how stable":      rules.CheckStability,
		"users see no internal types":  rules.CheckAliases,
		"types and facade stay small":  rules.CheckSizes,
	} {
		t.Run(name, func(t *testing.T) { report(t, rule(tree)) })
	}
	t.Run("packages and files stay small", func(t *testing.T) {
		all := tree
		for _, nested := range nestedModules(t) {
			all = with(t, all, nested)
		}
		report(t, rules.CheckFiles(all, largePackagesAndFiles()))
	})
	t.Run("options can be reached", func(t *testing.T) {
		report(t, rules.CheckOptions(with(t, tree, "examples/controller"), "aws", unreachableOptions()))
	})
	t.Run("0 is 0", func(t *testing.T) {
		report(t, rules.CheckZeros(tree, map[string]string{
			"cloudprovider.Capabilities.LaunchTimeout": "what a provider says of itself in JSON: a field left out is 0",
		}))
		controller, err := rules.ParseTree(os.DirFS(filepath.Join(root, "examples/controller")))
		if err != nil {
			t.Fatal(err)
		}
		report(t, rules.CheckZeros(controller, nil))
	})
	t.Run("log messages begin with a verb", func(t *testing.T) {
		retired, err := rules.RetiredWords(read(t, "docs/glossary.md"))
		if err != nil {
			t.Fatal(err)
		}
		report(t, rules.CheckLogs(with(t, tree, "examples/controller"), retired))
	})
	t.Run("top-level folders", func(t *testing.T) {
		entries, err := os.ReadDir(root)
		if err != nil {
			t.Fatal(err)
		}
		var folders []string
		for _, e := range entries {
			if e.IsDir() {
				folders = append(folders, e.Name())
			}
		}
		report(t, rules.CheckTopLevel(folders))
	})
	t.Run("packages are listed", func(t *testing.T) {
		report(t, rules.CheckPackageMap(tree, read(t, "docs/packages.md")))
	})
	t.Run("statements of the specification", func(t *testing.T) {
		faults, err := rules.CheckStatements(os.DirFS(root), rules.Specification(), "internal/rules")
		if err != nil {
			t.Fatal(err)
		}
		report(t, faults)
	})
	t.Run("coverage of the checklist", func(t *testing.T) {
		all := tree
		for _, nested := range []string{"examples/controller", "internal/e2e", "internal/e2e/charts", "internal/e2e/crds"} {
			all = with(t, all, nested)
		}
		documents := make(map[string]string)
		for _, pattern := range []string{"*.md", "docs/*.md", "examples/*/*.md", "examples/controller/charts/*.md"} {
			names, err := fs.Glob(os.DirFS(root), pattern)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				documents[name] = read(t, name)
			}
		}
		report(t, rules.CheckCoverage(all, documents, documents["docs/coverage.md"]))
	})
}

// largePackagesAndFiles have more files, or lines, than others may have. The numbers may only fall.
func largePackagesAndFiles() map[string]int {
	return map[string]int{
		"commands/simulate":                             64,
		"examples/controller/reconcilers":               67,
		"examples/controller/reconcilers/disruption.go": 429,
		"internal/bench/judge/bound.go":                 445,
	}
}

// unreachableOptions are those of the packages of aws that nothing outside them sets, with why that is right.
func unreachableOptions() map[string]string {
	const (
		seam    = "a test's seam: processes have the real one"
		metrics = "metrics of those who use the package by itself; the provider's are at package sdk"
		bound   = "a bound on work that no cluster came near; the provider takes the default"
		pace    = "a pace that EC2's own limits decide; the provider takes the default"
	)
	return map[string]string{
		"aws/convert.Options.Unadmitted":                    "Conversion sets it for what reads manifests; the controller reads live objects alone",
		"aws/internal/batch.Options.Backoff":                bound,
		"aws/internal/batch.Options.MaxBackoff":             bound,
		"aws/internal/batch.Options.MaxBatches":             bound,
		"aws/internal/interruption.Options.After":           seam,
		"aws/internal/interruption.Options.ImpairedFor":     pace,
		"aws/internal/interruption.Options.OnRemoved":       metrics,
		"aws/internal/interruption.Options.StatusEvery":     pace,
		"aws/internal/launchtemplates.Options.Lifetime":     bound,
		"aws/internal/launchtemplates.Options.MaxTemplates": bound,
		"aws/internal/launchtemplates.Options.OnCreate":     metrics,
		"aws/internal/launchtemplates.Options.Parallelism":  bound,
		"aws/internal/unavailable.Options.Jitter":           seam,
		"aws/internal/unavailable.Options.ProbeTimeout":     bound,
	}
}

// TestDependencies asks the go command what the module and its tests need.
func TestDependencies(t *testing.T) {
	t.Run("nothing banned", func(t *testing.T) {
		list := command(t, "go", "list", "-deps", "-test", "./...")
		if !strings.Contains(list, rules.Module+"/scheduling") {
			t.Fatalf("go list shows no package of the module:\n%s", list)
		}
		report(t, rules.CheckBanned(list))
	})
	t.Run("each has its reason", func(t *testing.T) {
		var modules []rules.Requirements
		err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.Name() != "go.mod" || strings.Contains(name, "testdata/") {
				return err
			}
			r, err := rules.ParseRequirements(name, []byte(command(t, "go", "mod", "edit", "-json", name)))
			modules = append(modules, r)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		report(t, rules.CheckDependencyReasons(read(t, "CONTRIBUTING.md"), modules))
	})
}

var update = flag.Bool("update", false, "write again what documents show of programs, their output and imports")

// TestReadme holds what README.md and docs/simulate.md show to what is run: the program is the example of the root package, the outputs
// are that example's and the golden file of the built-in cluster.
func TestReadme(t *testing.T) {
	program, output, err := rules.Program(read(t, "example_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	builtin := withoutTimes(read(t, "commands/simulate/testdata/golden/builtin.txt"))
	usage, _, _ := strings.Cut(fromLine(read(t, "commands/simulate/testdata/golden/usage.txt"), "With requests at"), "Prices:\n")
	for _, c := range []struct{ page, marker, language, want string }{
		{"README.md", "<!-- quick start -->", "go", program},
		{"README.md", "<!-- quick start prints -->", "text", output},
		{"README.md", "<!-- simulate ends with -->", "text", fromLine(builtin, "57 of 57 pods placed")},
		{"docs/simulate.md", "<!-- simulate prints -->", "text", builtin},
		{"docs/simulate.md", "<!-- usage prints -->", "text", usage},
	} {
		page := read(t, c.page)
		got, err := rules.Fence(page, c.marker, c.language)
		if err != nil {
			t.Errorf("%s: %v", c.page, err)
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" && !*update {
			t.Errorf("%s, %s (-run +shown); refresh with -update:\n%s", c.page, c.marker, diff)
		}
		if page, err = rules.SetFence(page, c.marker, c.language, c.want); err != nil {
			t.Error(err)
		}
		if *update && !t.Failed() {
			if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(c.page)), []byte(page), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestReadmeIsShort keeps README.md to what a newcomer reads: the rest has pages of its own.
func TestReadmeIsShort(t *testing.T) {
	const most = 200
	if n := strings.Count(read(t, "README.md"), "\n"); n >= most {
		t.Errorf("README.md has %d lines, and should have fewer than %d: move what is not for newcomers to docs", n, most)
	}
}

// fromLine is the end of a text, from the line on that begins so.
func fromLine(text, begins string) string {
	return text[max(strings.Index(text, "\n"+begins)+1, 0):]
}

// withoutTimes leaves out the line of simulate's output that differs from run to run.
func withoutTimes(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "Compiled in ") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

func report(t *testing.T, faults []rules.Fault) {
	t.Helper()
	for _, f := range faults {
		t.Error(f)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// command is what a program prints when run in the root of the repository.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = root
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}
