package manifests

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/internal/seeded"
)

// drawSources draws files with valid objects that depend on each other across files.
func drawSources(t *rapid.T) []Source {
	objects := []string{
		nodeOf("n1", ", labels: {karpenter.sh/nodepool: general}", "providerID: x"),
		nodeOf("n2", ", deletionTimestamp: '2026-01-31T11:00:00Z'", ""),
		claimOf("c1", "", "providerID: x"), claimOf("c2", "", ""),
		goodPool, goodNodeClass, sandbox, oldPool, oldTemplate, betaPool, betaClass,
		nodeOf("n3", ", labels: {karpenter.sh/provisioner-name: general}", "providerID: z"), machineOf("m", "general", "z"), betaClaim,
		"apiVersion: v1\nkind: LimitRange\nmetadata: {name: b}\nspec: {limits: [{type: Container, defaultRequest: {cpu: 1}}]}\n",
		"apiVersion: v1\nkind: LimitRange\nmetadata: {name: a}\nspec: {limits: [{type: Container, defaultRequest: {cpu: 2, memory: 1Gi}}]}\n",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "pods") {
		more := rapid.SampledFrom([]string{"", "  nodeName: n1\n", "  nodeName: n2\n", "  nodeName: n9\n", "  runtimeClassName: sandbox\n", "  priorityClassName: none\n"}).Draw(t, "more")
		objects = append(objects, simplePod(fmt.Sprintf("p%d", i), more))
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "workloads") {
		kind := rapid.SampledFrom([]string{"apps/v1 Deployment", "apps/v1 StatefulSet", "apps/v1 ReplicaSet", "batch/v1 Job"}).Draw(t, "kind")
		apiVersion, kind, _ := strings.Cut(kind, " ")
		name := rapid.SampledFrom([]string{"p", "web", fmt.Sprintf("w%d", i)}).Draw(t, "name")
		objects = append(objects, workloadOf(apiVersion, kind, name, fmt.Sprintf("  replicas: %d\n", rapid.IntRange(0, 3).Draw(t, "replicas"))))
	}
	objects = append(objects, podTemplateOf("t", "cpu: 1"))
	for i := range rapid.IntRange(0, 3).Draw(t, "buffers") {
		spec := rapid.SampledFrom([]string{
			"podTemplateRef: {name: t}, replicas: 2", "podTemplateRef: {name: none}, replicas: 2",
			"scalableRef: {apiGroup: apps, kind: Deployment, name: web}, percentage: 50", "podTemplateRef: {name: t}, limits: {cpu: 3}",
		}).Draw(t, "buffer")
		objects = append(objects, bufferOf(fmt.Sprintf("b%d", i), spec))
	}
	sources := make([]Source, rapid.IntRange(1, 5).Draw(t, "files"))
	seen := make(map[string]bool)
	for _, object := range objects {
		if id := identity(object); seen[id] {
			continue // would be refused
		} else {
			seen[id] = true
		}
		i := rapid.IntRange(0, len(sources)-1).Draw(t, "file")
		sources[i].Data = append(sources[i].Data, "\n---\n"+object...)
	}
	for i := range sources {
		sources[i].Name = fmt.Sprintf("file%d.yaml", i)
	}
	return sources
}

// identity is what makes two objects of these tests the same.
func identity(object string) string {
	for _, line := range strings.Split(object, "\n") {
		if strings.HasPrefix(line, "metadata: ") {
			name, _, _ := strings.Cut(line, ",")
			return object[strings.Index(object, "kind: "):strings.Index(object, "\nmetadata")] + strings.TrimSuffix(name, "}")
		}
	}
	return object
}

func TestOrderOfSourcesDoesNotMatter(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		sources := drawSources(t)
		want := loaded(t, sources)
		shuffled := slices.Clone(sources)
		seed := rapid.Uint64().Draw(t, "seed")
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if diff := cmp.Diff(want, loaded(t, shuffled)); diff != "" {
			t.Fatalf("another order, another result:\n%s", diff)
		}
	})
}

// Moving objects between files changes where they are said to be, not what is made of them.
func TestDivisionIntoFilesDoesNotMatter(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		sources := drawSources(t)
		var all []byte
		for _, i := range rapid.Permutation(indexesOf(sources)).Draw(t, "order") {
			all = append(append(all, sources[i].Data...), "\n"...)
		}
		want, err := Load(sources, onAWS(Options{Now: now}))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Load([]Source{{"all.yaml", all}}, onAWS(Options{Now: now}))
		if err != nil {
			t.Fatal(err)
		}
		want.Warnings, got.Warnings = nil, nil
		if diff := cmp.Diff(asYAML(t, want), asYAML(t, got)); diff != "" {
			t.Fatalf("another division, another result:\n%s", diff)
		}
	})
}

func indexesOf(sources []Source) []int {
	out := make([]int, len(sources))
	for i := range out {
		out[i] = i
	}
	return out
}

func loaded(t *rapid.T, sources []Source) string {
	result, err := Load(sources, onAWS(Options{Now: now}))
	if err != nil {
		t.Fatal(err)
	}
	return asYAML(t, result)
}

func asYAML(t *rapid.T, result *Result) string {
	text, err := yaml.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Every pod has one place at most, and a name of its own.
func TestPodsAreUnique(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		result, err := Load(drawSources(t), onAWS(Options{Now: now}))
		if err != nil {
			t.Fatal(err)
		}
		names := append(podNames(result.Snapshot.Pods), podNames(result.Snapshot.Placeholders)...)
		for _, n := range result.Snapshot.Nodes {
			names = append(names, podNames(n.Pods)...)
		}
		slices.Sort(names)
		if unique := slices.Compact(slices.Clone(names)); len(unique) != len(names) {
			t.Fatalf("pods share names: %v", names)
		}
	})
}
