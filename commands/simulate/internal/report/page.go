package report

// Page is the content of a report. Empty parts are left out. All texts are plain text, which Write escapes.
type Page struct {
	// Title is the heading, and Subtitle is one line below the heading.
	Title, Subtitle string
	// Facts are the most important numbers.
	Facts []Fact
	// Remarks are paragraphs below the facts, such as assumptions and the sources of prices.
	Remarks []string
	// Comparisons, Charts, Packings, Steps and Tables follow the remarks on the page, in this order.
	Comparisons []Comparison
	Charts      []Chart
	Packings    []Packing
	Steps       *Steps
	Tables      []Table
}

// Fact is a number, as text, with its name.
type Fact struct{ Name, Value string }

// Comparison compares amounts by the lengths of bars.
type Comparison struct {
	Title, Lead string
	Bars        []Bar
}

// Bar is one amount of a comparison. Value must not be negative. Text is the value as shown on the page.
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
	// Series have a value for each of several periods of equal length. All series have the same number of values.
	Series []Series
	// Stacked means that the series are drawn as areas on top of each other instead of as lines.
	Stacked bool
	// Most is the smallest value that the upper end of the value axis may have. The axis begins at 0.
	Most float64
	// Value writes a value as text.
	Value func(float64) string
	// Time returns a time as text. Its argument is a fraction, from 0 to 1, of the time that the chart covers.
	Time func(float64) string
	// Events are marked below the chart.
	Events []Event
}

// Series is a line or an area of a chart.
type Series struct {
	Name   string
	Values []float64
}

// Event is an event in a chart. At is its time, as a fraction from 0 to 1 of the time that the chart covers.
type Event struct {
	At float64
	// Kind of the event; events of the same kind have the same colour. Text describes the event.
	Kind, Text string
}

// Packing draws nodes, with a bar for each resource and a block for the pods of each workload.
type Packing struct {
	Title, Lead string
	// Resources are the names of the bars, such as "CPU".
	Resources []string
	Nodes     []Node
}

// Node is a node of a Packing. Equal nodes in succession are drawn as one node, with the number of these nodes.
type Node struct {
	// Name of the node. It is not drawn if the node is drawn together with equal nodes.
	Name string
	// Kind describes the node, such as "m7g.large in us-east-1a, spot", and Price is its price as text.
	Kind, Price string
	// Mark is a word about the effect of the plan on the node, such as "removed"; "" for no effect.
	Mark string
	// Has says for each of Packing.Resources whether the node has it; nil means that the node has all.
	Has []bool
	// Blocks are the pods by workload.
	Blocks []Block
}

// Block is the part of a node that the pods of a workload request.
type Block struct {
	Workload string
	Pods     int
	// Shares are the requested fractions of the node's resources, from 0 to 1, indexed like Packing.Resources.
	Shares []float64
}

// Steps are shown one at a time, chosen with a slider.
type Steps struct {
	Title, Lead string
	// Most is the value at which a step's bar has its full length; 0 means the largest value of the steps.
	Most  float64
	Steps []Step
}

// Step is one of the Steps.
type Step struct {
	// Title names the step, and Lines describe it.
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

// Column is a column of a table. Right means that the cells are aligned to the right, as for numbers.
type Column struct {
	Title string
	Right bool
}
