package customprovider_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/drawknife/drawknife/examples/customprovider"
)

// A machine is taken for a claim, which finds it again, and is given back.
func Example() {
	dir, err := os.MkdirTemp("", "inventory")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file, err := os.Open("testdata/inventory.yaml")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	inventory, err := customprovider.ReadInventory(file)
	if err != nil {
		log.Fatal(err)
	}
	journal, err := customprovider.OpenJournal(filepath.Join(dir, "journal.jsonl"))
	if err != nil {
		log.Fatal(err)
	}
	defer journal.Close()
	power := &rack{on: map[string]customprovider.Boot{}} // customprovider.Command{Path: "./power"} switches real ones
	provider, err := customprovider.New(inventory, journal, power, customprovider.Options{Cluster: "lab"})
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	machine, err := provider.Create(ctx, claim("a"))
	if err != nil {
		log.Fatal(err)
	}
	cpu := machine.Status.Allocatable["cpu"]
	fmt.Println(machine.Status.ProviderID, machine.Labels["node.kubernetes.io/instance-type"], cpu.String())
	again, err := provider.Create(ctx, claim("a"))
	fmt.Println(again.Status.ProviderID, err)
	fmt.Println(provider.Delete(ctx, machine))
	fmt.Println(provider.Delete(ctx, machine))
	// Output:
	// inventory:///office/desk-01/1 nuc 3800m
	// inventory:///office/desk-01/1 <nil>
	// <nil>
	// no instance has provider id "inventory:///office/desk-01/1": the machine is off
}
