// Package verdicts records the answers of kube-scheduler's filter plugins while their own tests run. The program compat copies the plugins'
// packages from the module cache to a work folder. There it replaces Filter and PreFilter by functions that call this package, and then
// replays the records with this project's planner. This module does not import this project's planner, so that the plugins keep the
// versions of the Kubernetes libraries that they were made with.
package verdicts
