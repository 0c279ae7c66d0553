// Compat runs the test suites of Karpenter and its AWS provider against this project and writes docs/compatibility.md.
//
//	go -C internal/compat run .          compare with docs/compatibility.md and differences.yaml
//	go -C internal/compat run . -write   write docs/compatibility.md
//	go -C internal/compat run . -again   judge the results of the last run again, after a change of differences.yaml
//
// The suites come from the released modules in the module cache. They are copied to a work folder (DRAWKNIFE_COMPAT, by default in
// the user's cache), patched there, compiled and run twice: as the release is, and with this project's planner behind
// Scheduler.Solve or instead of the methods of disruption, or its definitions or its validation in Go instead of the
// definitions. An in-memory client stands in for the API server. None of the peers' code is in this repository. COMPAT_LOG=1
// prints each plan into the logs in the work folder.
package main
