package convert_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/drawknife/drawknife/commands"
	"github.com/drawknife/drawknife/commands/convert"
)

// A Provisioner on standard input becomes a NodePool: here only its name is printed.
func Example() {
	const provisioner = `{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: default}, spec: {providerRef: {name: default}}}`
	run := convert.Command().Begin()
	if err := run.Flags.Parse([]string{"-o", "name"}); err != nil {
		fmt.Println(err)
		return
	}
	streams := commands.Streams{In: strings.NewReader(provisioner), Out: os.Stdout, Err: io.Discard} // warnings go to Err
	status := run.Do(context.Background(), []string{"-"}, streams)
	fmt.Println("status", status)
	// Output:
	// nodepool.karpenter.sh/default
	// status 0
}
