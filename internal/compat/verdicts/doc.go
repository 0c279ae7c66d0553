// Package verdicts writes down what kube-scheduler's filter plugins answer while their own tests run. The program compat copies the
// plugins' packages from the module cache to a work folder, puts Filter and PreFilter behind functions that call this package,
// and replays what was written through this project's planner. This project's planner has no part in this module, so that
// the plugins keep the Kubernetes libraries they were made with.
package verdicts
