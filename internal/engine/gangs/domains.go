package gangs

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/cloudprovider"
)

// MostDomains bounds how many combinations are found.
const MostDomains = 4096

// Pool is what a pool sells: the labels and requirements of its template, and its instance types.
type Pool struct {
	Template requirements.Set
	Types    []*cloudprovider.InstanceType
}

// Domains are the combinations of values of the keys that nodes with such labels have, or that new nodes of the pools could have. Beyond
// MostDomains the last are left out.
func Domains(keys []string, nodes []map[string]string, pools []Pool) [][]string {
	f := &finder{keys: keys, known: map[string]bool{}}
	for _, labels := range nodes {
		f.addNode(labels)
	}
	if !slices.Contains(keys, corev1.LabelHostname) { // a new node has a name of its own
		for i := range pools {
			f.addPool(&pools[i])
		}
	}
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

// addPool adds what the pool's offerings could be. Many offerings say the same, and are looked at once.
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

// addAll adds each combination of the choices from those that were made on.
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

// valuesOf are the values of the label that a node could have: what the first of the sets says that says anything but "any", as far as
// the template allows it.
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
