package overlay

import (
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/cloudprovider"
)

// list is one list of instance types, prepared once for all pools that have it. Its offerings have consecutive indices. For each label key
// that overlays use, a column has the requirement of each offering's instance, called a statement. Thousands of offerings have only a few
// different statements, so an overlay is compared with each different statement only once.
type list struct {
	types []*cloudprovider.InstanceType
	// first[i] is the index of the first offering of types[i] among all offerings. An additional last entry is the number of all offerings.
	first []int
	// columns has one column for each of keys, in the same order.
	keys    []string
	columns []column
}

// column contains the statements (requirements) of all offerings' instances for one label key.
type column struct {
	// says[offering] is an index into statements.
	says []int32
	// statements[0] means that neither the type nor any of its offerings has a requirement for the key.
	statements []requirements.Requirement
	// numbers maps a statement to its number. If the statement has exactly one value, as nearly always, its key in numbers is that value.
	// Otherwise the key is a NUL character and the text of the statement; no label value contains a NUL. The last result is cached in
	// lastValue and lastNumber, because neighbouring offerings often have the same statement.
	numbers    map[string]int32
	lastValue  string
	lastNumber int32
}

const unstated = 0

func newList(types []*cloudprovider.InstanceType, keys []string) *list {
	l := &list{types: types, first: make([]int, len(types)+1), keys: keys, columns: make([]column, len(keys))}
	for i, t := range types {
		l.first[i+1] = l.first[i]
		if t != nil {
			l.first[i+1] += len(t.Offerings)
		}
	}
	for k := range l.columns {
		c := &l.columns[k]
		c.says, c.statements, c.numbers = make([]int32, l.offerings()), make([]requirements.Requirement, 1), make(map[string]int32)
	}
	if len(keys) > 0 {
		for i, t := range types {
			if t != nil {
				l.readType(t, l.first[i])
			}
		}
	}
	return l
}

// offerings returns the number of offerings in the list.
func (l *list) offerings() int { return l.first[len(l.types)] }

// column returns the column of a key that overlays use.
func (l *list) column(key string) *column {
	k, _ := slices.BinarySearch(l.keys, key)
	return &l.columns[k]
}

// readType collects the statements of the instances of a type, by the rule of InstanceType.MachineRequirements. If the offering has a
// requirement for the key, this is the statement. If only other offerings of the type have a requirement for the key, the statement is
// DoesNotExist. If no offering has one, it is the type's requirement.
func (l *list) readType(t *cloudprovider.InstanceType, first int) {
	for i := range t.Offerings {
		for r := range t.Offerings[i].Requirements.All {
			// The search is linear, because overlays use few keys, and strings of different lengths are quickly compared.
			if k := slices.Index(l.keys, r.Key()); k >= 0 {
				c := &l.columns[k]
				c.says[first+i] = c.number(r)
			}
		}
	}
	for k, key := range l.keys {
		c := &l.columns[k]
		says := c.says[first : first+len(t.Offerings)]
		silent, spoken := slices.Contains(says, unstated), slices.ContainsFunc(says, func(n int32) bool { return n != unstated })
		switch {
		case !silent:
		case spoken:
			fill(says, c.number(requirements.DoesNotExist(key)))
		case t.Requirements.Has(key):
			fill(says, c.number(t.Requirements.Get(key)))
		}
	}
}

// fill sets the statement with this number for all offerings without a statement.
func fill(says []int32, number int32) {
	for i := range says {
		if says[i] == unstated {
			says[i] = number
		}
	}
}

// number returns the number of a statement. It assigns a new number to a new statement.
func (c *column) number(r requirements.Requirement) int32 {
	var text string
	if values := r.Values(); !r.Complement() && len(values) == 1 && r.MinValues() == nil {
		text = values[0]
		if c.lastNumber != 0 && c.lastValue == text {
			return c.lastNumber
		}
	} else {
		text = "\x00" + r.String()
	}
	number, ok := c.numbers[text]
	if !ok {
		number = int32(len(c.statements))
		c.statements = append(c.statements, r)
		c.numbers[text] = number
	}
	c.lastValue, c.lastNumber = text, number
	return number
}

// condition is one requirement of an overlay, for pools with the same labels. Its slice is column.says of the key's column. met[i] is true
// if the column's statements[i] meets the requirement.
type condition struct {
	says []int32
	met  []bool
}

// conditions returns the requirements of the set want that some, but not all, offerings of the list meet. The result none is true if no
// offering meets one of the requirements.
func (l *list) conditions(want requirements.Set, labels requirements.Set) (open []condition, none bool) {
	for r := range want.All {
		c := l.column(r.Key())
		met := c.judge(labels, r)
		switch {
		case !slices.Contains(met, false):
		case !slices.Contains(met, true):
			return nil, true
		default:
			open = append(open, condition{says: c.says, met: met})
		}
	}
	return open, false
}

// judge reports, for each statement, whether it meets the requirement in a pool with these labels.
func (c *column) judge(labels requirements.Set, want requirements.Requirement) []bool {
	met := make([]bool, len(c.statements))
	for i, statement := range c.statements {
		met[i] = meets(statement, i != unstated, labels, want)
	}
	return met
}

// signature returns a text for the labels of a pool. Two pools have equal texts only if every rule treats their labels in the same way.
func (l *list) signature(labels requirements.Set, rules []*rule) string {
	var text []byte
	if labels.Len() == 0 {
		return ""
	}
	for i, r := range rules {
		if r == nil {
			continue
		}
		for want := range r.want.All {
			if !labels.Has(want.Key()) {
				continue
			}
			text = append(append(binary.AppendUvarint(text, uint64(i)), want.Key()...), 0)
			for _, met := range l.column(want.Key()).judge(labels, want) {
				text = strconv.AppendBool(text, met)
			}
		}
	}
	return string(text)
}

// meets reports whether an instance with the statement, in a pool with these labels, meets the requirement. If neither the statement nor
// the labels have the key, only requirements that accept a missing label are met, even if the key is well known.
func meets(statement requirements.Requirement, stated bool, labels requirements.Set, want requirements.Requirement) bool {
	key := want.Key()
	have := labels.Get(key)
	switch {
	case stated && labels.Has(key):
		have = statement.Intersect(have)
	case stated:
		have = statement
	case !labels.Has(key):
		have = requirements.DoesNotExist(key)
	}
	return have.Intersects(want) || acceptsAbsence(have) && acceptsAbsence(want)
}

// acceptsAbsence reports whether the requirement is met by a missing label. Package requirements uses the same rule to compare two
// requirements without a common value.
func acceptsAbsence(r requirements.Requirement) bool {
	return r.Operator() == requirements.OpNotIn || r.Operator() == requirements.OpDoesNotExist
}

// matching appends the indices of all offerings that meet every condition.
func (l *list) matching(open []condition, into []int32) []int32 {
	for place := range int32(l.offerings()) {
		ok := true
		for i := range open {
			if !open[i].met[open[i].says[place]] {
				ok = false
				break
			}
		}
		if ok {
			into = append(into, place)
		}
	}
	return into
}
