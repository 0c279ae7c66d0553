// Package verdicts records the answers of kube-scheduler's filter plugins while their own tests run. The program compat copies the packages
// of the plugins from the module cache to a work folder. There it replaces Filter and PreFilter by functions that call this package.
// Afterwards it replays the records with this project's planner. This module does not import this project's planner, so that the plugins
// are built with their own versions of the Kubernetes libraries.
package verdicts
