package customprovider_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/examples/customprovider"
)

func claim(uid string) *v1.NodeClaim {
	c := &v1.NodeClaim{}
	c.Name, c.UID = "claim-"+uid, types.UID(uid)
	c.Labels = map[string]string{v1.NodePoolLabelKey: "web"}
	c.Spec.NodeClassRef = v1.NodeClassReference{Group: customprovider.NodeClassGroup, Kind: customprovider.NodeClassKind, Name: "default"}
	c.Spec.Taints = []corev1.Taint{{Key: "web", Value: "only", Effect: corev1.TaintEffectNoSchedule}}
	return c
}

// office is the inventory of testdata.
func office(t *testing.T) *customprovider.Inventory {
	t.Helper()
	file, err := os.Open("testdata/inventory.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	inventory, err := customprovider.ReadInventory(file)
	if err != nil {
		t.Fatal(err)
	}
	return inventory
}

// The whole life of a machine that a script switches, through a crash and a restart.
func TestCommand(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "power")
	const text = `#!/bin/sh
cd "$(dirname "$0")"
case $1 in
on)     env | grep -E '^(PROVIDER_ID|NODE_LABELS|NODE_TAINTS)=' | sort >"$2" ;;
off)    rm -f "$2" ;;
status) if [ -f "$2" ]; then echo on; else echo off; fi ;;
esac
`
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	journal := open(t, filepath.Join(dir, "journal.jsonl"))
	start := func() *customprovider.Provider {
		p, err := customprovider.New(office(t), journal, customprovider.Command{Path: script}, customprovider.Options{Cluster: "lab"})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	provider := start()
	machine, err := provider.Create(t.Context(), claim("a"))
	if err != nil {
		t.Fatal(err)
	}
	boot, err := os.ReadFile(filepath.Join(dir, "desk-01"))
	if err != nil {
		t.Fatal(err)
	}
	want := "NODE_LABELS=karpenter.sh/capacity-type=on-demand,kubernetes.io/arch=amd64,kubernetes.io/os=linux,node.kubernetes.io/instance-type=nuc,topology.kubernetes.io/zone=office\n" +
		"NODE_TAINTS=karpenter.sh/unregistered=:NoExecute,web=only:NoSchedule\n" +
		"PROVIDER_ID=inventory:///office/desk-01/1\n"
	if got := strings.ReplaceAll(string(boot), "karpenter.sh/nodepool=web,", ""); got != want {
		t.Errorf("the machine is told\n%s, not\n%s", got, want)
	}

	if err := journal.Close(); err != nil { // the process ends here
		t.Fatal(err)
	}
	journal = open(t, filepath.Join(dir, "journal.jsonl"))
	provider = start()
	again, err := provider.Create(t.Context(), claim("a"))
	if err != nil || again.Status.ProviderID != machine.Status.ProviderID {
		t.Fatalf("after a restart the claim has %v, %v", again, err)
	}
	if err := provider.Delete(t.Context(), machine); err != nil {
		t.Fatal(err)
	}
	if err := provider.Delete(t.Context(), machine); !cloudprovider.IsNodeClaimNotFound(err) {
		t.Errorf("the machine is off, and Delete says %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "desk-01")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the machine was not switched off: %v", err)
	}
	next, err := provider.Create(t.Context(), claim("b"))
	if err != nil || next.Status.ProviderID == machine.Status.ProviderID {
		t.Errorf("the next claim has %v, %v", next, err)
	}
	if err := provider.Delete(t.Context(), machine); !cloudprovider.IsNodeClaimNotFound(err) {
		t.Errorf("a late Delete of who had the machine before says %v", err)
	}
}

// A script that fails says why, and does not take the whole inventory for broken.
func TestCommandFails(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "power")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n[ $1 = status ] && echo off && exit\necho no route to the board >&2\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	journal := open(t, filepath.Join(dir, "journal.jsonl"))
	provider, err := customprovider.New(office(t), journal, customprovider.Command{Path: script}, customprovider.Options{Cluster: "lab"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = provider.Create(t.Context(), claim("a"))
	if !cloudprovider.IsCreateFailed(err) || !strings.Contains(err.Error(), "no route to the board") {
		t.Errorf("error %v", err)
	}
	machines, err := provider.List(t.Context())
	if err != nil || len(machines) != 0 {
		t.Errorf("%d machines are left, %v", len(machines), err)
	}
	list, err := provider.InstanceTypes(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	for _, it := range list {
		for o := range it.OfferingsWithRoom() {
			_ = o
			left++
		}
	}
	if left == 0 {
		t.Error("nothing is left to try")
	}
	if _, err := (customprovider.Command{Path: script}).IsOff(t.Context(), "x"); err != nil {
		t.Errorf("status: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := provider.Create(ctx, claim("b")); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call says %v", err)
	}
}

// Claims that can never be met are refused for good.
func TestRefusedClaims(t *testing.T) {
	provider, err := customprovider.New(office(t), open(t, filepath.Join(t.TempDir(), "l")), customprovider.Command{Path: "/bin/false"}, customprovider.Options{Cluster: "lab"})
	if err != nil {
		t.Fatal(err)
	}
	for says, change := range map[string]func(*v1.NodeClaim){
		"metadata.uid":      func(c *v1.NodeClaim) { c.UID = "" },
		"spec.nodeClassRef": func(c *v1.NodeClaim) { c.Spec.NodeClassRef.Kind = "EC2NodeClass" },
		"spec.requirements": func(c *v1.NodeClaim) {
			c.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: "a", Operator: "Like"}}
		},
	} {
		c := claim("a")
		change(c)
		if _, err := provider.Create(t.Context(), c); !cloudprovider.IsPermanent(err) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
	if _, err := customprovider.New(office(t), nil, nil, customprovider.Options{}); err == nil {
		t.Error("a provider without a cluster")
	}
}

// A line that a crash cut short is dropped; one in the middle that can't be read is an error, since it may be about a machine
// that somebody has.
func TestLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	const line = `{"machine":"desk-01","holder":{"launch":7,"cluster":"lab","claim":"c","uid":"u","since":"2026-05-04T10:00:00Z","started":true}}` + "\n"
	if err := os.WriteFile(path, []byte(line+`{"machine":"desk-0`), 0o600); err != nil {
		t.Fatal(err)
	}
	provider, err := customprovider.New(office(t), open(t, path), customprovider.Command{Path: "/bin/false"}, customprovider.Options{Cluster: "lab"})
	if err != nil {
		t.Fatal(err)
	}
	machines, err := provider.List(t.Context())
	if err != nil || len(machines) != 1 || machines[0].Status.ProviderID != "inventory:///office/desk-01/7" || machines[0].Labels[corev1.LabelInstanceTypeStable] != "nuc" {
		t.Errorf("machines %v, %v", machines, err)
	}
	if err := os.WriteFile(path, []byte("{\n"+line), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := customprovider.OpenJournal(path); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a broken journal: %v", err)
	}
}

func TestReadInventory(t *testing.T) {
	const good = "types: [{name: a, cpu: 4, memory: 8Gi, hourlyPrice: 0.1}]\nmachines: [{name: m, type: a, zone: z}]\n"
	if _, err := customprovider.ReadInventory(strings.NewReader(good)); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	for _, c := range []struct{ from, to, says string }{
		{"types", "kinds", "kinds"},
		{"name: a", "name: 'a b'", "types[0].name"},
		{"cpu: 4", "cpu: 4, reservedCPU: 5", "types[0].cpu"},
		{"memory: 8Gi", "memory: 0", "types[0].memory"},
		// Kubernetes would read these for minutes.
		{"cpu: 4", "cpu: '1e-999999999'", `"1e-999999999" is not a readable amount`},
		{"cpu: 4", "cpu: 4, reservedCPU: '1E+0999999999'", `"1E+0999999999" is not a readable amount`},
		{"memory: 8Gi", "memory: '" + strings.Repeat("1", 100) + "'", "is not a readable amount"},
		{"memory: 8Gi", "Memory: ' 1e-999999999'", `" 1e-999999999" is not a readable amount`},
		{"cpu: 4", "cpu: 4, arch: mips", "types[0].arch"},
		{"cpu: 4", "cpu: 4, pods: -1", "types[0].pods"},
		{"0.1", "0", "types[0].hourlyPrice"},
		{"name: m", "name: M!", "machines[0].name"},
		{"type: a", "type: b", "machines[0].type"},
		{"zone: z", "zone: ''", "machines[0].zone"},
		{"[{name: m, type: a, zone: z}]", "[{name: m, type: a, zone: z}, {name: m, type: a, zone: z}]", "machines[1].name"},
		{"[{name: a, cpu: 4, memory: 8Gi, hourlyPrice: 0.1}]", "[]", "types"},
	} {
		if _, err := customprovider.ReadInventory(strings.NewReader(strings.Replace(good, c.from, c.to, 1))); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s for %s: %v", c.to, c.from, err)
		}
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("refusing them takes %s", took)
	}
}

// What can be read is valid, and can be sold.
func FuzzReadInventory(f *testing.F) {
	text, err := os.ReadFile("testdata/inventory.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Fuzz(func(t *testing.T, text string) {
		inventory, err := customprovider.ReadInventory(strings.NewReader(text))
		if err != nil {
			return
		}
		journal := open(t, filepath.Join(t.TempDir(), "l"))
		provider, err := customprovider.New(inventory, journal, nil, customprovider.Options{Cluster: "lab"})
		if err != nil {
			t.Fatal(err)
		}
		if err := provider.Describe().Validate(); err != nil {
			t.Errorf("capabilities: %v", err)
		}
		list, err := provider.InstanceTypes(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range list {
			if len(it.Offerings) == 0 || !slices.IsSortedFunc(it.Offerings, func(a, b cloudprovider.Offering) int { return strings.Compare(a.Zone(), b.Zone()) }) {
				t.Errorf("%s: offerings %v", it.Name, it.Offerings)
			}
		}
	})
}
