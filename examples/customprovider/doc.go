// Package customprovider is a cloud provider in a few pages: machines that are listed in a file, switched on and off by a command. It
// serves a rack of servers with IPMI, a pool of virtual machines behind virsh, or anything else that a command can start and stop. It is
// the example of docs/providers.md, which builds it step by step.
//
//	inventory, err := customprovider.ReadInventory(file)
//	if err != nil {
//		return err
//	}
//	journal, err := customprovider.OpenJournal("journal.jsonl")
//	if err != nil {
//		return err
//	}
//	defer journal.Close()
//	provider, err := customprovider.New(inventory, journal, customprovider.Command{Path: "./power"}, customprovider.Options{Cluster: "lab"})
//
// It passes the level Core of the conformance kit (package cloudprovider/conformance).
//
//	inventory    which machines there are, read from YAML      inventory.go
//	journal       which of them is whose, kept in a file        journal.go
//	power        switching a machine on and off                power.go
//	catalog      the inventory as instance types               catalog.go
//	node class   its kind, for what reads manifests            nodeclass.go
//	provider     the methods of CloudProvider                  provider.go, create.go
//
// # Limits
//
// Only one process at a time may open a journal: the leader. It has no spot capacity and no node class with settings (any name of kind
// InventoryNodeClass is accepted). It detects a broken machine only when switching it on fails.
package customprovider
