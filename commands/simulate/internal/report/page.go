package report

// Page is a report. Empty parts are left out. All texts are plain text; they are escaped.
type Page struct {
	// Title is the heading, and Subtitle one line below it.
	Title, Subtitle string
	// Facts are the most important figures.
	Facts []Fact
	// Remarks are paragraphs below the facts, such as assumptions and where prices come from.
	Remarks []string
	// Comparisons, Charts, Packings, Steps and Tables follow in this order.
	Comparisons []Comparison
	Charts      []Chart
	Packings    []Packing
	Steps       *Steps
	Tables      []Table
}

// Fact is a figure with its name.
type Fact struct{ Name, Value string }

// Comparison compares amounts by the lengths of bars.
type Comparison struct {
	Title, Lead string
	Bars        []Bar
}

// Bar is one amount of a comparison. Value is not negative; Text is the value as it is shown.
type Bar struct {
	Name  string
	Value float64
	Text  string
	// Note explains the amount in a few words.
	Note string
}

// Chart draws amounts over time.
type Chart struct {
	Title, Lead string
	// Series have a value for each of several periods of equal length, and all the same number of values.
	Series []Series
	// Stacked draws areas on top of each other instead of lines.
	Stacked bool
	// Most is the least upper end of the axis of values, which begins at 0.
	Most float64
	// Value writes a value as text.
	Value func(float64) string
	// Time writes a time, as a share from 0 to 1 of the time that the chart covers, as text.
	Time func(float64) string
	// Events are marked below the chart.
	Events []Event
}

// Series is a line or an area of a chart.
type Series struct {
	Name   string
	Values []float64
}

// Event is something that happened, at a time as a share from 0 to 1 of the time that a chart covers.
type Event struct {
	At float64
	// Kind of the event; events of a kind have the same colour. Text says more.
	Kind, Text string
}

// Packing draws nodes, with a bar for each resource and a block for the pods of each workload.
type Packing struct {
	Title, Lead string
	// Resources are the names of the bars, such as "CPU".
	Resources []string
	Nodes     []Node
}

// Node is a node of a Packing. Equal nodes that follow each other are drawn once, with their number.
type Node struct {
	// Name of the node. It is not drawn if the node is drawn together with equal nodes.
	Name string
	// Kind describes the node, such as "m7g.large in us-east-1a, spot", and Price is its price as text.
	Kind, Price string
	// Mark is a word about the node's fate, such as "removed"; "" for none.
	Mark string
	// Has says which of Packing.Resources the node has; nil means all.
	Has []bool
	// Blocks are the pods by workload.
	Blocks []Block
}

// Block is the part of a node that the pods of a workload request.
type Block struct {
	Workload string
	Pods     int
	// Shares of the node, indexed like Packing.Resources, from 0 to 1.
	Shares []float64
}

// Steps are shown one at a time, chosen with a slider.
type Steps struct {
	Title, Lead string
	// Most is the value that fills a step's bar; 0 means the largest value of the steps.
	Most  float64
	Steps []Step
}

// Step is one of the Steps.
type Step struct {
	// Title names the step, and Lines say what happens.
	Title string
	Lines []string
	// Bar shows an amount after the step, such as the cost of the cluster.
	Bar Bar
}

// Table has rows of text.
type Table struct {
	Title, Lead string
	Columns     []Column
	// Rows have a cell for each column.
	Rows [][]string
	// More is the number of rows that were left out.
	More int
}

// Column is a column of a table. Numbers are aligned to the right.
type Column struct {
	Title string
	Right bool
}
