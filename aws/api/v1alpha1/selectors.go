package v1alpha1

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/conversion"
	v1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/api/v1beta1"
)

// The largest numbers of terms, and of tags in one term, that the API accepts.
const (
	mostTerms = 30
	mostTags  = 20
)

// resource is the kind of resource that a selector selects.
type resource struct {
	// name is the word for the resource's ids in messages.
	name string
	// id is the form of its ids.
	id *regexp.Regexp
	// image means that the resource is an image. Selectors of images may also have names and owners.
	image bool
}

var (
	subnets = resource{name: "subnet", id: regexp.MustCompile(`^subnet-[0-9a-z]+$`)}
	groups  = resource{name: "security group", id: regexp.MustCompile(`^sg-[0-9a-z]+$`)}
	images  = resource{name: "image", id: regexp.MustCompile(`^ami-[0-9a-z]+$`), image: true}
)

// condition is one entry of a selector map, split at commas.
type condition struct {
	key    string
	values []string
}

// selection is a parsed selector map. It selects all combinations of its members: see selection.product.
type selection struct {
	ids, names, owners []string
	tags               []condition
}

// take parses a selector map, in the order of its keys.
func take(selector map[string]string, of resource) selection {
	var s selection
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		values := split(selector[key])
		switch {
		case key == SelectorIDs || key == SelectorOldIDs:
			// aws::ids sorts after aws-ids, and overrides it.
			s.ids = values
		case key == SelectorName && of.image:
			s.names = values
		case key == SelectorOwners && of.image:
			s.owners = values
		default:
			s.tags = append(s.tags, condition{key, values})
		}
	}
	return s
}

func split(value string) []string {
	parts := strings.Split(value, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

// term is one selector term for any resource.
type term struct {
	id, name, owner string
	tags            map[string]string
}

// expand converts a selector map to terms that select the same resources. From one term to the next, tags change first, in the order of
// their keys, then names, ids and owners.
func expand(selector map[string]string, of resource, options ConvertOptions, path *field.Path, warnings *conversion.Recorder) []term {
	if len(selector) == 0 {
		return nil
	}
	s := take(selector, of)
	checkSelection(selector, s, of, path, warnings)
	if len(s.ids) > 0 && len(selector) > 1 && !options.ReferenceCompat {
		return idTerms(selector, s.ids, path, warnings)
	}
	if of.image && len(s.ids)+len(s.names)+len(s.owners) == 0 && !options.ReferenceCompat {
		s.owners = []string{"self", "amazon"}
		warnings.Add(conversion.CodeOwnersExplicit, path)
	}
	count := max(len(s.ids), 1) * max(len(s.names), 1) * max(len(s.owners), 1)
	for _, tag := range s.tags {
		// Above mostTerms the exact count doesn't matter, and the product of many counts would overflow.
		count = min(count, mostTerms+1) * len(tag.values)
	}
	if count > mostTerms || len(s.tags) > mostTags {
		warnings.Add(conversion.CodeTooManyTerms, path, strconv.Itoa(count), strconv.Itoa(len(s.tags)))
		return nil
	}
	return s.product()
}

// idTerms returns one term for each distinct id, and reports the other entries of the selector, which are lost: a term with an id can't
// have other conditions.
func idTerms(selector map[string]string, ids []string, path *field.Path, warnings *conversion.Recorder) []term {
	var dropped []string
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		_, newer := selector[SelectorIDs]
		if key == SelectorIDs || key == SelectorOldIDs && !newer {
			continue
		}
		dropped = append(dropped, key+"="+selector[key])
	}
	warnings.Add(conversion.CodeIDMixed, path, strings.Join(dropped, ", "))
	var out []term
	for _, id := range ids {
		if !slices.ContainsFunc(out, func(t term) bool { return t.id == id }) {
			out = append(out, term{id: id})
		}
	}
	if len(out) > mostTerms {
		warnings.Add(conversion.CodeTooManyTerms, path, strconv.Itoa(len(out)), "0")
		return nil
	}
	return out
}

// checkSelection reports parts of a selector that are probably mistakes, and parts that releases interpret differently.
func checkSelection(selector map[string]string, s selection, of resource, path *field.Path, warnings *conversion.Recorder) {
	for _, id := range s.ids {
		if !of.id.MatchString(id) {
			warnings.Add(conversion.CodeMalformedID, path, strconv.Quote(id), of.name)
		}
	}
	if !of.image {
		return
	}
	if len(s.owners) > 0 && len(s.ids)+len(s.names)+len(s.tags) == 0 {
		warnings.Add(conversion.CodeOwnerAlone, path.Key(SelectorOwners))
	}
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		if key != SelectorIDs && key != SelectorOldIDs && key != SelectorOwners && strings.Contains(selector[key], ",") {
			warnings.Add(conversion.CodeCommaSplit, path.Key(key), strconv.Quote(selector[key]))
		}
	}
}

// product returns one term for each combination of the selection's members.
func (s selection) product() []term {
	sets := []map[string]string{nil}
	for _, tag := range s.tags {
		var longer []map[string]string
		for _, value := range tag.values {
			for _, set := range sets {
				next := map[string]string{tag.key: value}
				maps.Copy(next, set)
				longer = append(longer, next)
			}
		}
		sets = longer
	}
	or := func(list []string) []string {
		if len(list) == 0 {
			return []string{""}
		}
		return list
	}
	var out []term
	for _, owner := range or(s.owners) {
		for _, id := range or(s.ids) {
			for _, name := range or(s.names) {
				for _, tags := range sets {
					out = append(out, term{id: id, name: name, owner: owner, tags: maps.Clone(tags)})
				}
			}
		}
	}
	return out
}

func subnetTerms(terms []term) []v1.SubnetSelectorTerm {
	if terms == nil {
		return nil
	}
	out := make([]v1.SubnetSelectorTerm, len(terms))
	for i, t := range terms {
		out[i] = v1.SubnetSelectorTerm{Tags: t.tags, ID: t.id}
	}
	return out
}

func groupTerms(terms []term) []v1.SecurityGroupSelectorTerm {
	if terms == nil {
		return nil
	}
	out := make([]v1.SecurityGroupSelectorTerm, len(terms))
	for i, t := range terms {
		out[i] = v1.SecurityGroupSelectorTerm{Tags: t.tags, ID: t.id}
	}
	return out
}

func imageTerms(terms []term) []v1beta1.AMISelectorTerm {
	if terms == nil {
		return nil
	}
	out := make([]v1beta1.AMISelectorTerm, len(terms))
	for i, t := range terms {
		out[i] = v1beta1.AMISelectorTerm{Tags: t.tags, ID: t.id, Name: t.name, Owner: t.owner}
	}
	return out
}
