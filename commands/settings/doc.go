// Package settings is the command that reads settings of any generation of Karpenter, or of the controller, and prints what they mean today:
// each setting with its value, the name that set it, and a line for each key that is unknown, has moved or has no effect. It only adds files
// and output to package examples/settings.
//
//	run := settings.Command().Begin()
//	status := run.Do(ctx, []string{"values.yaml"}, commands.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
//
// examples/drawknife has it among its commands.
//
// Stability: beta.
package settings
