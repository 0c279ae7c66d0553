package simulate

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/commands"
)

// ask runs one of the commands, as a program with a framework of its own does.
func ask(t testing.TB, name string, args ...string) answer {
	t.Helper()
	for _, c := range Commands(Options{}) {
		if c.Name != name {
			continue
		}
		run := c.Begin()
		rest, err := parseInterleaved(run.Flags, args)
		if err != nil {
			t.Fatal(err)
		}
		var out, messages bytes.Buffer
		code := run.Do(context.Background(), rest, commands.Streams{In: strings.NewReader(""), Out: &out, Err: &messages})
		return answer{code, out.String(), messages.String()}
	}
	t.Fatalf("no command %s", name)
	return answer{}
}

// Each command gives the answer of simulate with the flag that asks the same.
func TestCommandsAnswerAsFlagsDo(t *testing.T) {
	const cluster, pools, trace = "testdata/commands/cluster.json", "testdata/commands/pools.yaml", "testdata/commands/trace.csv"
	now := []string{"--now", "2026-01-01T00:00:00Z", "-o", "json"}
	for _, test := range []struct {
		command    string
		args, same []string
	}{
		{"plan", []string{cluster}, []string{cluster}},
		{"consolidate", []string{cluster}, []string{cluster, "--consolidate"}},
		{"diff", []string{cluster, pools}, []string{cluster, "--diff", pools}},
		{"drain", []string{cluster, "-l", "group=old"}, []string{cluster, "--replace-nodes", "group=old"}},
		{"replay", []string{pools, trace}, []string{pools, "--replay", trace}},
	} {
		t.Run(test.command, func(t *testing.T) {
			got, want := ask(t, test.command, append(test.args, now...)...), simulate(t, "", append(test.same, now...)...)
			if want.code != exitPlaced {
				t.Fatalf("status %d: %s", want.code, want.stderr)
			}
			if diff := cmp.Diff(solveMillis.ReplaceAllString(want.stdout, ""), solveMillis.ReplaceAllString(got.stdout, "")); diff != "" || got.code != want.code {
				t.Errorf("status %d for %d (-simulate, +command):\n%s%s", got.code, want.code, diff, got.stderr)
			}
		})
	}
}

// Every flag of every command explains itself, and none is declared twice.
func TestFlagsOfCommandsAreExplained(t *testing.T) {
	for _, c := range Commands(Options{}) {
		c.Begin().Flags.VisitAll(func(f *flag.Flag) {
			if kind, usage := flag.UnquoteUsage(f); usage == "" && len(f.Name) > 1 && f.Name != "disruption-planner" {
				t.Errorf("%s: --%s (%s) has no usage text", c.Name, f.Name, kind)
			}
		})
		if c.Summary == "" || c.Help == "" || c.Examples == "" || len(c.Exit) == 0 {
			t.Errorf("%s: does not explain itself", c.Name)
		}
	}
}

// What a question needs is asked for, with the name of the command.
func TestCommandsRefuseBadUsage(t *testing.T) {
	for _, test := range []struct{ command, args, want string }{
		{"diff", "", "drawknife diff: needs the file of the new NodePools or workloads as its last argument"},
		{"replay", "", "drawknife replay: needs the trace as its last argument"},
		{"drain", "x.yaml", "drawknife drain: --selector: needs a label selector"},
		{"plan", "--save x.json x.yaml", "--save: saves the objects of a running cluster"},
		{"plan", "-A --snapshot x.yaml", "--snapshot: a saved snapshot has all objects"},
		{"plan", "-o xml x.yaml", `--output "xml"`},
		{"plan", "nowhere.yaml", "drawknife plan: "},
	} {
		if got := ask(t, test.command, strings.Fields(test.args)...); got.code != exitInput || !strings.Contains(got.stderr, test.want) {
			t.Errorf("%s %s: status %d: %s", test.command, test.args, got.code, got.stderr)
		}
	}
}

// kubectl puts a program on the search path that answers as kubectl does, and says what it was asked.
func kubectl(t *testing.T, script string) (asked func() string) {
	t.Helper()
	dir := t.TempDir()
	log := filepath.Join(dir, "asked")
	text := "#!/bin/sh\necho \"$*\" >>" + log + "\n" + script
	if err := os.WriteFile(filepath.Join(dir, "kubectl"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return func() string {
		data, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
}

// A running cluster is read with kubectl, which is asked for the kinds that the cluster has; what was read is kept, and is an input.
func TestClustersAreReadWithKubectl(t *testing.T) {
	cluster, err := filepath.Abs("testdata/commands/cluster.json")
	if err != nil {
		t.Fatal(err)
	}
	asked := kubectl(t, `case $1 in
api-resources) echo nodes; echo pods; echo secrets; echo nodepools.karpenter.sh; echo replicasets.apps ;;
get) cat `+cluster+` ;;
esac`)
	saved := filepath.Join(t.TempDir(), "saved.json")
	live := ask(t, "plan", "--context", "blue", "--save", saved, "--now", "2026-01-01T00:00:00Z", "-o", "json")
	if live.code != exitPlaced {
		t.Fatalf("status %d: %s", live.code, live.stderr)
	}
	want := "api-resources --verbs=list -o name --context=blue\nget nodes,pods,replicasets.apps,nodepools.karpenter.sh --all-namespaces -o json --context=blue\n"
	if diff := cmp.Diff(want, asked()); diff != "" {
		t.Error(diff)
	}
	again := ask(t, "plan", saved, "--now", "2026-01-01T00:00:00Z", "-o", "json")
	if diff := cmp.Diff(solveMillis.ReplaceAllString(live.stdout, ""), solveMillis.ReplaceAllString(again.stdout, "")); diff != "" {
		t.Errorf("-live +saved:\n%s", diff)
	}
	if info, err := os.Stat(saved); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}

// -n plans the waiting pods of one namespace, and keeps those of others on their nodes.
func TestNamespaceOfACluster(t *testing.T) {
	cluster, err := filepath.Abs("testdata/commands/cluster.json")
	if err != nil {
		t.Fatal(err)
	}
	kubectl(t, "case $1 in\napi-resources) printf 'nodes\\npods\\nnodepools.karpenter.sh\\n' ;;\nget) cat "+cluster+" ;;\nesac")
	all, one := ask(t, "plan", "-A"), ask(t, "plan", "-n", "shop")
	if all.code != exitPlaced || one.code != exitPlaced {
		t.Fatalf("%s%s", all.stderr, one.stderr)
	}
	if !strings.Contains(all.stdout, "3 of 3 pods placed") || !strings.Contains(one.stdout, "2 of 2 pods placed") {
		t.Errorf("%s\n%s", all.stdout, one.stdout)
	}
	if !strings.Contains(one.stderr, "1 waiting pod of other namespaces than shop: not planned") {
		t.Error(one.stderr)
	}
}

// An object of an input replaces that of the cluster, as kubectl apply would do it, and a line says so.
func TestInputsReplaceObjectsOfTheCluster(t *testing.T) {
	cluster, err := filepath.Abs("testdata/commands/cluster.json")
	if err != nil {
		t.Fatal(err)
	}
	kubectl(t, "case $1 in\napi-resources) printf 'nodes\\npods\\nnodepools.karpenter.sh\\n' ;;\nget) cat "+cluster+" ;;\nesac")
	pool := filepath.Join(t.TempDir(), "pool.yaml")
	const text = `{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: default}, spec: {template: {spec: {
  nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default},
  requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [m5.24xlarge]}]}}}}`
	if err := os.WriteFile(pool, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got := ask(t, "plan", "-A", pool)
	if got.code != exitPlaced || !strings.Contains(got.stdout, "m5.24xlarge") ||
		!strings.Contains(got.stderr, "note: "+pool+": document 1, line 1: NodePool default: the cluster has this object, too; this one replaces it") {
		t.Errorf("status %d: %s\n%s", got.code, got.stderr, got.stdout)
	}
	if got := ask(t, "plan", cluster, pool); got.code != exitInput || !strings.Contains(got.stderr, "is given twice") {
		t.Errorf("two files: status %d: %s", got.code, got.stderr)
	}
}

// What keeps kubectl from reading a cluster is said, with kubectl's own words.
func TestClustersThatCanNotBeRead(t *testing.T) {
	for name, test := range map[string]struct{ script, want string }{
		"refused":  {"echo 'error: You must be logged in to the server' >&2; exit 1", "kubectl api-resources: exit status 1: error: You must be logged in to the server"},
		"no nodes": {"echo configmaps", "the cluster does not list both nodes and pods"},
	} {
		t.Run(name, func(t *testing.T) {
			kubectl(t, test.script)
			if got := ask(t, "plan", "-A"); got.code == exitPlaced || !strings.Contains(got.stderr, test.want) {
				t.Errorf("status %d: %s", got.code, got.stderr)
			}
		})
	}
	t.Setenv("PATH", t.TempDir())
	if got := ask(t, "plan", "-A"); got.code != exitCloud || !strings.Contains(got.stderr, "reading the cluster needs kubectl") {
		t.Errorf("status %d: %s", got.code, got.stderr)
	}
}
