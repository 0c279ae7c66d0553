// Package report writes a report about a plan as one HTML page.
//
// The page is self-contained: it loads nothing, so it can be mailed, stored with a change and opened offline. A Content-Security-Policy
// with hashes allows only its style sheet and its script. Without the script, the page still shows all of its content. The page can be read
// from 390 pixels of width on, in light and dark mode, with a keyboard and with a screen reader.
//
// The input is a Page: facts, comparisons, drawings of nodes, steps and tables, all as text and numbers. The package does not depend on the
// packages for plans.
package report
