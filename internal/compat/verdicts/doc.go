// Package verdicts records the answers of kube-scheduler's filter plugins while their own tests run. The program compat copies the plugins'
// packages from the module cache to a work folder, replaces Filter and PreFilter by functions that call this package, and replays the
// records through this project's planner. This module does not contain this project's planner, so that the plugins keep the Kubernetes
// libraries that they were made with.
package verdicts
