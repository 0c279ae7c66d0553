package aws_test

import (
	"testing"
)

// AWI-026, OPP-08: memory that a node turned out to have counts for its type, and outlives the process.
func TestObservedMemory(t *testing.T) {
	p, class := newProvider(t, newAccount(t)), readyClass("default")
	const bytes = 7 << 30
	if !p.ObserveMemory(class, "m5.large", bytes) || p.ObserveMemory(class, "m5.large", bytes) {
		t.Error("the first sighting changes something, the second does not")
	}
	saved, err := p.ExportMemory()
	if err != nil {
		t.Fatal(err)
	}
	later := newProvider(t, newAccount(t))
	if err := later.ImportMemory(saved); err != nil {
		t.Fatal(err)
	}
	types, err := later.InstanceTypes(t.Context(), nodePool())
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range types {
		if got := it.Capacity.Memory().Value(); it.Name == "m5.large" && got != bytes {
			t.Errorf("m5.large has %d bytes of memory, want %d", got, bytes)
		}
	}
	if err := later.ImportMemory([]byte("no memory")); err == nil {
		t.Error("text of another form is taken over")
	}
}
