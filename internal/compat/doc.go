// Compat runs the test suites of Karpenter and its AWS provider against this project and writes docs/compatibility.md.
//
//	go -C internal/compat run .          compare with docs/compatibility.md and differences.yaml
//	go -C internal/compat run . -write   write docs/compatibility.md
//	go -C internal/compat run . -again   judge the results of the last run again, after a change of differences.yaml
//
// The suites come from the released modules in the module cache. They are copied to a work folder (DRAWKNIFE_COMPAT, by default in the
// user's cache), patched there, compiled and run twice. The first run tests the unchanged release. In the second run, a part of this
// project replaces a part of the release: the planner behind Scheduler.Solve, the methods of disruption, or the CustomResourceDefinitions.
// The validation in Go can also replace the rules of these definitions. An in-memory client replaces the API server. No code of Karpenter
// or its provider is in this repository. COMPAT_LOG=1 prints each plan into the logs in the work folder.
package main
