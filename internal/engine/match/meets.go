package match

import (
	"github.com/drawknife/drawknife/api/requirements"
)

// Meets reports whether a node can satisfy r. The first argument describes the node's labels; the node lacks all other labels.
func Meets(have requirements.Set, r requirements.Requirement) bool {
	if !have.Has(r.Key()) {
		return AbsentMeets(r)
	}
	h := have.Get(r.Key())
	if h.Operator() == requirements.OpDoesNotExist {
		return AbsentMeets(r)
	}
	if r.Operator() == requirements.OpDoesNotExist {
		return AbsentMeets(h) // the label may be absent if the requirement h only excludes values
	}
	return h.Intersects(r)
}

// AbsentMeets reports whether a node without the label satisfies r.
func AbsentMeets(r requirements.Requirement) bool {
	if lower, upper := r.Bounds(); lower != nil || upper != nil {
		return false
	}
	op := r.Operator()
	return op == requirements.OpNotIn || op == requirements.OpDoesNotExist
}

// SingleValued reports whether the requirement leaves at most one value.
func SingleValued(r requirements.Requirement) bool {
	return !r.Complement() && len(r.Values()) <= 1
}

// OnlyValue returns the value of a requirement that allows only one value, otherwise "".
func OnlyValue(r requirements.Requirement) string {
	if !r.Complement() && len(r.Values()) == 1 {
		return r.Values()[0]
	}
	return ""
}
