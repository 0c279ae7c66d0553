package manifests

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestInputWithoutAnyClaimsIsNamedOnce(t *testing.T) {
	const (
		class = "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: fast}\nprovisioner: p\n"
		claim = "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: other}\nspec: {storageClassName: fast}\n"
		sets  = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec:\n  replicas: 2\n" +
			"  template: {spec: {containers: [{name: x}]}}\n  volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: fast}}]\n"
		ephemeral = "  volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: fast}}}}]\n"
	)
	using := func(name, more string) string {
		return "---\n" + simplePod(name, "  volumes: [{name: none, emptyDir: {}}, {name: v, persistentVolumeClaim: {claimName: data-"+name+"}}]\n"+more)
	}
	for name, c := range map[string]struct {
		text string
		more int // -1: no warning
	}{
		"one pod":                                     {using("a", ""), 0},
		"many pods":                                   {using("a", "") + using("b", "") + using("c", ""), 2},
		"ephemeral volume of a running pod":           {strings.Replace(simplePod("a", ephemeral), "name: a", "name: a, uid: u", 1), 0},
		"ephemeral volume of a pod to come":           {simplePod("a", ephemeral), -1},
		"claims of a StatefulSet's pods":              {sets, -1},
		"some claim, though not the pod's":            {using("a", "") + claim, -1},
		"pod without volumes":                         {simplePod("a", ""), -1},
		"pod that has ended":                          {using("a", "status: {phase: Succeeded}\n"), -1},
		"pod that uses claims in addition to one set": {sets + using("a", ""), 0},
	} {
		t.Run(name, func(t *testing.T) {
			result := load(t, c.text+class)
			if c.more < 0 {
				wantNoWarnings(t, result)
				return
			}
			w := wantWarning(t, result, WarningClaims)
			const want = "the input has no PersistentVolumeClaims: add them to kubectl get"
			if w.More != c.more || w.Object != "Pod default/a" || !strings.Contains(w.Message, want) {
				t.Errorf("warning %q with %d more, want %d more, of Pod default/a: %s", w, w.More, c.more, want)
			}
		})
	}
}

// The command that the documents give for a running cluster must ask for all that planning reads of one.
func TestDocumentedKubectlGetAsksForWhatIsRead(t *testing.T) {
	long := map[string]string{
		"ds": "daemonsets", "rs": "replicasets", "sts": "statefulsets", "rc": "replicationcontrollers", "svc": "services",
		"ns": "namespaces", "limits": "limitranges", "pdb": "poddisruptionbudgets", "pc": "priorityclasses",
		"pv": "persistentvolumes", "pvc": "persistentvolumeclaims", "sc": "storageclasses",
	}
	// Pods say all there is to say of what a cluster runs; a CronJob would be taken to run once more. The rest is for
	// capacity buffers and requests, or not installed everywhere, and kubectl prints nothing if asked for a kind that it lacks.
	unasked := []string{"deployments", "jobs", "cronjobs", "podtemplates", "capacitybuffers", "provisioningrequests", "nodeoverlays", "provisioners", "machines", "awsnodetemplates",
		"resourceclaims", "resourceclaimtemplates", "deviceclasses", "resourceslices",
		"podgroups", "workloads", "compositepodgroups"}
	var want []string
	for g := range newLoader(nil, onAWS(Options{})).kinds {
		plural := strings.ToLower(g.kind) + "s"
		if strings.HasSuffix(g.kind, "Class") {
			plural = strings.ToLower(g.kind) + "es"
		}
		if !slices.Contains(unasked, plural) {
			want = append(want, plural)
		}
	}
	slices.Sort(want)
	want = slices.Compact(want)
	command := regexp.MustCompile(`kubectl get -A -o yaml (\S+) \|`)
	for _, file := range []string{"../../docs/simulate.md", "../../commands/simulate/help.txt"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := command.FindStringSubmatch(strings.ReplaceAll(string(text), "\\\n", ""))
		if found == nil {
			t.Errorf("%s has no kubectl get", file)
			continue
		}
		var asked []string
		for _, name := range strings.Split(found[1], ",") {
			if full, ok := long[name]; ok {
				name = full
			}
			asked = append(asked, name)
		}
		slices.Sort(asked)
		if !slices.Equal(asked, want) {
			t.Errorf("%s asks for\n%v\nplanning reads\n%v", file, asked, want)
		}
	}
}
