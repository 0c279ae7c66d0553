package manifests

import (
	"errors"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/internal/manifesttest"
)

func FuzzLoad(f *testing.F) {
	for _, c := range kindCases() {
		f.Add([]byte(c.text))
	}
	for _, seed := range []string{
		podList(2),
		"apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\nkind: List\n",
		manifesttest.AliasBomb(5), manifesttest.MergeBomb(5), "a: &a [*a]", "{\"kind\":", "---\n---\n", "? [a]\n: b", "\xef\xbb\xbf{}", "!!bool \"\"",
		"kind: Pod\napiVersion: v1\nmetadata: {name: a}\nspec: {containers: [{resources: {requests: {cpu: 1e9}}}]}\n",
		"kind: Pod\r\napiVersion: v1\r\nmetadata: [1]\r\n", "\r\r0",
		"apiVersion: karpenter.sh/\nkind: Unknown",
		"kind: Pod\napiVersion: v1\nmetadata: {name: a}\nspec: {containers: [{resources: {requests: {cpu: \"1e-999999999\"}}}]}\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		opts := Options{Limits: limited(func(l *Limits) { l.Replicas = 1000; l.Objects = 1000 })}
		result, err := Load([]Source{{Name: "fuzz.in", Data: data}}, onAWS(opts))
		if err == nil {
			if result.Snapshot == nil {
				t.Fatal("neither a result nor an error")
			}
			return
		}
		var refused *LoadError
		if !errors.As(err, &refused) {
			t.Fatalf("%T is no *LoadError: %v", err, err)
		}
		lines := strings.Count(string(data), "\n") + strings.Count(string(data), "\r") + 1 // YAML takes both for line ends
		for _, p := range refused.Problems {
			if p.Source != "fuzz.in" || p.Line < 0 || p.Line > lines+1 {
				t.Errorf("problem %v is not in the source, which has %d lines", p, lines)
			}
		}
	})
}
