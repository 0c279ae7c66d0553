// Package checklist proves the rows of docs/coverage.md that need all steps from manifests to a plan on EC2's instance types. Its tests
// load manifests as users write them, plan them on the built-in catalogue, and check the result. Rows that a single package can prove are
// proven by the tests of that package.
package checklist
