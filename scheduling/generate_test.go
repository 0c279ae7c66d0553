package scheduling_test

// Random snapshots: small, but with every feature in every combination. Values come from short lists, so that pods,
// pools and nodes often agree and often don't.
