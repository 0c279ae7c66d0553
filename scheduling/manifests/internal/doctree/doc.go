// Package doctree reads the text of documents: it finds objects in it, and the line of each field.
//
// The question: where in a text are its values, and what do they mean as JSON?
//
// The input is a text of JSON or YAML. The output are positions of values that are not decoded ([JSONScanner]), a tree of nodes with their
// lines ([ParseYAML], [JSONTree]), the JSON of such a tree ([JSONWriter]), and the fields that do not have the type they should
// ([WrongFields]).
//
// The method: JSON is scanned without decoding it. YAML is parsed and written as JSON, as kubectl does. A document is compared with a Go
// type only if decoding it failed.
//
// The cost: one pass over the text. The depth, the length of lines, and the expansion of aliases and merge keys are bounded, so that the
// cost of any text is about proportional to its length.
package doctree
