// Package report writes a report about a plan as one HTML page.
//
// The page is self-contained: it loads nothing, so it can be mailed, stored with a change and opened offline. Its style sheet and its script
// are allowed by their hashes in a Content-Security-Policy; nothing else may run. Without the script, all content is still there. The page
// can be read from 390 pixels of width on, in light and dark mode, with a keyboard and with a screen reader.
//
// Input is a Page: figures, comparisons, drawings of nodes, steps and tables, all as text and numbers. The package knows nothing of plans.
package report
