// Package checklist proves rows of docs/coverage.md that speak of the whole way from manifests to a plan on EC2's node
// types: its tests load manifests as users have them, plan them on the built-in catalogue, and look at what comes out.
// Rows that one package can prove alone are proven there.
package checklist
