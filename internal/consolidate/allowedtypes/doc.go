// Package allowedtypes answers one question: which instance types may the new nodes of a command be launched as, so that the command pays
// whichever of them the cloud has?
//
// Input are what the nodes that go have in common, planned nodes with the types that would hold their pods, and how much they may cost in
// all. Output are the nodes with the types that remain, or a block that says why some node has none.
//
// What may be spent is shared out over the new nodes by their prices; a type remains if it costs less than the share, whatever way to buy it
// succeeds. Rules for capacity types are the reference's. The work is in proportion to nodes times types; nodes of a pool with the same
// requirements are looked up once.
//
//	shares   what each new node may cost               finder.go
//	offers   which types cost no more than that        offers.go
package allowedtypes
