package gangs

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/cloudprovider"
)

// MostDomains is the largest number of combinations that are returned.
const MostDomains = 4096

// Pool describes the nodes that a pool can launch: the labels and requirements of its template, and its instance types.
type Pool struct {
	Template requirements.Set
	Types    []*cloudprovider.InstanceType
}

// Domains returns the combinations of values of the keys that the nodes have, together with those in sold. If there are more than
// MostDomains, the last ones are left out.
func Domains(keys []string, nodes []map[string]string, sold [][]string) [][]string {
	f := &finder{keys: keys, known: map[string]bool{}}
	for _, labels := range nodes {
		f.addNode(labels)
	}
	for _, values := range sold {
		f.add(values)
	}
	return f.sorted()
}

// Sold returns the combinations of values of the keys that new nodes of the pools could have. If there are more than MostDomains, the last
// ones are left out.
func Sold(keys []string, pools []Pool) [][]string {
	if slices.Contains(keys, corev1.LabelHostname) { // a new node has its own name as hostname
		return nil
	}
	f := &finder{keys: keys, known: map[string]bool{}}
	for i := range pools {
		f.addPool(&pools[i])
	}
	return f.sorted()
}

// sorted returns the combinations that were found, in ascending order.
func (f *finder) sorted() [][]string {
	slices.SortFunc(f.found, slices.Compare)
	return f.found[:min(len(f.found), MostDomains)]
}

// finder collects combinations.
type finder struct {
	keys  []string
	known map[string]bool
	found [][]string
}

func (f *finder) add(values []string) {
	text := strings.Join(values, "\x00")
	if !f.known[text] {
		f.known[text] = true
		f.found = append(f.found, slices.Clone(values))
	}
}

func (f *finder) addNode(labels map[string]string) {
	values := make([]string, len(f.keys))
	for i, key := range f.keys {
		value, ok := labels[key]
		if !ok {
			return
		}
		values[i] = value
	}
	f.add(values)
}

// addPool adds the domains of the pool's offerings. It examines offerings with equal labels only once.
func (f *finder) addPool(p *Pool) {
	seen := map[string]bool{}
	for _, it := range p.Types {
		if it == nil {
			continue
		}
		for o := range it.Offerings {
			if !it.Offerings[o].Available {
				continue
			}
			choices, text := make([][]string, len(f.keys)), ""
			for i, key := range f.keys {
				choices[i] = valuesOf(key, p.Template, it.Offerings[o].Requirements, it.Requirements)
				text += strings.Join(choices[i], "\x00") + "\x01"
			}
			if !seen[text] {
				seen[text] = true
				f.addAll(choices, nil)
			}
		}
	}
}

// addAll adds each combination that begins with the values in made and has one value from each of the other lists in choices.
func (f *finder) addAll(choices [][]string, made []string) {
	if len(f.found) > 2*MostDomains {
		return
	}
	if len(made) == len(choices) {
		f.add(made)
		return
	}
	for _, value := range choices[len(made)] {
		f.addAll(choices, append(made[:len(made):len(made)], value))
	}
}

// valuesOf returns the values of the label that a node could have. It takes them from the first set of sets that lists values for the
// label, or else from the template, and leaves out values that the template forbids. It returns nil if no set lists values.
func valuesOf(key string, template requirements.Set, sets ...requirements.Set) []string {
	for _, set := range append(sets, template) {
		if !set.Has(key) || set.Get(key).Complement() {
			continue
		}
		values := set.Get(key).Values()
		if template.Has(key) {
			allowed := template.Get(key)
			values = slices.DeleteFunc(slices.Clone(values), func(value string) bool { return !allowed.Has(value) })
		}
		return values
	}
	return nil
}
