package rules_test

import (
	"testing"

	"github.com/drawknife/drawknife/internal/rules"
)

func TestCheckLogs(t *testing.T) {
	source := func(calls string) files {
		return files{"aws/a.go": "package aws\n\nfunc f() {\n" + calls + "\n}\n"}
	}
	for _, c := range []ruleCase{
		{"what was done, is being done, can't be done", source(`
	p.log.Info("launched instance", "nodeClaim", 1)
	log.Warn("waiting for the cluster state", "duration", 2)
	c.Logger.ErrorContext(ctx, "cannot list NodeClaims, retrying", "error", err)
	k.log().Debug("found that Karpenter has stopped")
	log.Log(ctx, level, "lost node")
	log.Warn(failure, append(more, "error", err)...)
	s.log("anything", err)
	t.Error("Any text of a test.")`), nil},
		{"no verb", source(`	log.Info("node is gone")`),
			[]string{`aws/a.go:4: log message "node is gone" must begin with a verb: what was done (launched), what is being done (waiting), or cannot`}},
		{"a capital letter and a full stop", source(`	log.Info("Launched instance.")`),
			[]string{`aws/a.go:4: log message "Launched instance." must begin with a small letter`, `aws/a.go:4: log message "Launched instance." must not end in a full stop`}},
		{"a retired word", source(`	log.Info("launched machine")`),
			[]string{`aws/a.go:4: log message "launched machine" has the retired word "machine": see docs/glossary.md`}},
		{"a kind of that name", source(`	log.Info("ignoring Machines")`), nil},
		{"data in the message", source(`	log.Info("launched "+name)`),
			[]string{"aws/a.go:4: a log message must be a text that never changes, so that one can search for it: put data into pairs"}},
		{"keys", source(`	log.Info("launched instance", "nodeclaim", 1, "Instance Type", 2, "zone", 3)`),
			[]string{`aws/a.go:4: log key "Instance Type" must be camelCase`, `aws/a.go:4: log key "nodeclaim" must be spelled nodeClaim`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.run(t, func(tree *rules.Tree) []rules.Fault { return rules.CheckLogs(tree, []string{"machine"}) })
		})
	}
}
