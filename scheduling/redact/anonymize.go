package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// Anonymize strips the snapshot like Strip, and replaces names (of objects, containers, volumes, instances) and the values of labels,
// selectors and taints by made-up words. The snapshot is not changed. Nil stays nil.
//
// The word for a name consists of the name's rank among all replaced names and of a hash of the name: "n0042-6f1d9a3b". Equal names get
// equal words, and words have the same order as the names. So the plan is the same as for the original snapshot, with other names. The hash
// is the same in every snapshot that was anonymised with the same key, so that two snapshots can be compared. Only the owner of the key can
// check whether a guessed name is right. With a nil key, everyone can check this.
//
// Everything that rules compare remains unchanged: keys of labels and taints; values of labels that the vocabulary calls well known, that
// instance types state, or that are compared as numbers; instance types with their prices and reservations; resources, drivers,
// schedulers, amounts and times. The sentences of Assumptions remain, and names in them are replaced as well.
func Anonymize(s *scheduling.Snapshot, key []byte) *scheduling.Snapshot {
	stripped := Strip(s)
	if stripped == nil {
		return nil
	}
	catalogs, vocabulary := stripped.Catalogs, stripped.Vocabulary
	stripped.Catalogs = nil // catalogs are not copied, because they stay unchanged and are large
	a := &anonymizer{key: key, plain: plainKeys(vocabulary, catalogs), words: make(map[string]string)}

	a.word = func(name string) string { return name }
	a.snapshot(stripped, catalogs) // this pass finds the keys whose values are compared as numbers
	a.word = func(name string) string { a.words[name] = ""; return name }
	a.snapshot(stripped, catalogs)
	a.rank()
	a.joinEphemeral(stripped)
	a.word = func(name string) string { return a.words[name] }
	return a.snapshot(stripped, catalogs)
}

// anonymizer copies a snapshot and replaces the words in it.
type anonymizer struct {
	key []byte
	// plain are the keys of labels and taints whose values stay unchanged.
	plain map[string]bool
	// words has, for each name, the word that replaces this name.
	words map[string]string
	// word is called for each name in the snapshot, and returns its replacement. Each pass over the snapshot sets its own function.
	word func(string) string
}

func (a *anonymizer) snapshot(s *scheduling.Snapshot, catalogs map[string][]*cloudprovider.InstanceType) *scheduling.Snapshot {
	out := a.copy(reflect.ValueOf(s), false).Interface().(*scheduling.Snapshot)
	if catalogs != nil {
		out.Catalogs = make(map[string][]*cloudprovider.InstanceType, len(catalogs))
		for name, types := range catalogs {
			out.Catalogs[a.name(name)] = types
		}
	}
	return out
}

func (a *anonymizer) name(name string) string {
	if name == "" {
		return ""
	}
	return a.word(name)
}

// rank chooses the word that replaces each name in a.words.
func (a *anonymizer) rank() {
	names := make([]string, 0, len(a.words))
	for name := range a.words {
		names = append(names, name)
	}
	slices.Sort(names)
	digits := len(fmt.Sprint(len(names)))
	for i, name := range names {
		hash := hmac.New(sha256.New, a.key)
		hash.Write([]byte(name))
		a.words[name] = fmt.Sprintf("n%0*d-%s", digits, i, hex.EncodeToString(hash.Sum(nil)[:4]))
	}
}

// joinEphemeral preserves the form of the names of volume claims that Kubernetes creates for pods: the pod's name, a dash, and the
// volume's name.
func (a *anonymizer) joinEphemeral(s *scheduling.Snapshot) {
	join := func(pods []*corev1.Pod) {
		for _, pod := range pods {
			if pod == nil {
				continue
			}
			for i := range pod.Spec.Volumes {
				v := &pod.Spec.Volumes[i]
				claim := pod.Name + "-" + v.Name
				if _, named := a.words[claim]; named && v.Ephemeral != nil {
					a.words[claim] = a.words[pod.Name] + "-" + a.words[v.Name]
				}
			}
		}
	}
	join(s.Pods)
	join(s.Placeholders)
	for i := range s.Nodes {
		join(s.Nodes[i].Pods)
	}
}
