// Package top is the command that shows a running controller: what its cluster costs, the nodes with how full they are, the pods that wait
// and the commands under way. It reads the controller's report (commands/top/clusterreport) and changes nothing.
//
//	run := top.Command().Begin()
//	_ = run.Flags.Parse([]string{"--url", "http://localhost:8080", "--once"})
//	status := run.Do(ctx, nil, commands.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
//
// examples/drawknife has it among its commands.
//
// Stability: beta.
package top
