// Package checklist proves rows of docs/coverage.md that concern everything from manifests to a plan on EC2's node types. Its tests load
// manifests as users write them, plan them on the built-in catalogue, and check the result. Rows that a single package can prove are proven
// there.
package checklist
