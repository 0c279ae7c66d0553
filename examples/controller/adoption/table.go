package adoption

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// WriteTable prints the findings as a table, with the numbers of findings in the last line.
func WriteTable(w io.Writer, findings []Finding) error {
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "KIND\tNAME\tNODEPOOL\tNODE\tVERDICT\tREASON")
	sums := map[Verdict]int{}
	for _, f := range findings {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", f.Kind, f.Name, f.Pool, f.Node, f.Verdict, f.Reason)
		sums[f.Verdict]++
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%d taken over, %d leaving, %d would be replaced, %d would be ended, %d refused, %d would lose fields\n",
		sums[TakenOver], sums[Leaving], sums[Replaced], sums[Ended], sums[Refused], sums[Pruned])
	return err
}
