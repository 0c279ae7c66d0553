package scheduling

// loading tries what machines would hold of the waiting pods.
type loading struct {
	t       *Trial
	w       *Worth
	classes []int32
	anchor  int32
	// kinds are the machines, and loads what is known of the pods that wait whatever the machine: the anchor's first, then the others,
	// the largest first.
	kinds []kind
	loads []waitingLoad
	free  []int64
}

// waitingLoad is pods of a class that wait.
type waitingLoad struct {
	class *class
	// most is how many of them one machine may take by rules at most; each is worth so much.
	most  int
	worth int64
	// suits are the kinds that they may go on, by number; admitted what rules say of the cells of kinds, nil where there are none.
	suits    bitset
	admitted []cellVerdict
	// least is the least that pods of this load or one after it ask for of each of the first resources, dense how much one of them is
	// worth at most for each unit of it, and rest what all of them are worth.
	least [dimsAhead]int64
	dense [dimsAhead]float64
	rest  int64
}

// dimsAhead are the resources that are looked at ahead: processors, memory and the number of pods.
const dimsAhead = dimPods + 1

// cellVerdict of rules on pods of a class in a cell.
type cellVerdict uint8

const (
	notAsked cellVerdict = iota
	admitted
	refused
)

// newLoading is for the kinds of machines that the anchor's pods choose from.
func (t *Trial) newLoading(w *Worth, classes []int32, anchor int32, kinds []kind) *loading {
	f := &loading{t: t, w: w, classes: classes, anchor: anchor, kinds: kinds, loads: t.loadsAhead[:0], free: make([]int64, 0, t.m.resources.len())}
	f.add(anchor)
	for _, class := range classes {
		if class != anchor {
			f.add(class)
		}
	}
	t.loadsAhead = f.loads
	f.lookAhead()
	return f
}

// add notes the pods of the class that wait.
func (f *loading) add(class int32) {
	t := f.t
	c, n := t.m.classes[class], int(t.waiting[class])
	stages := t.stagesFor(c)
	if n > 0 && c.topology != nil {
		n = min(n, admitsHost(t.m, c.topology, func(int32) tally { return tally{} }))
	}
	if n <= 0 || len(stages) == 0 {
		if class == f.anchor {
			f.kinds = nil // none holds what it must
		}
		return
	}
	l := waitingLoad{class: c, most: n, worth: max(f.w.byClass[class], 1), suits: t.suitingKinds(t.stagesFor(t.m.classes[f.anchor])[0], stages[0], f.kinds)}
	if c.topology != nil {
		l.admitted = make([]cellVerdict, len(t.placesOfKinds().list))
	}
	f.loads = append(f.loads, l)
}

// lookAhead notes what is to come after each load.
func (f *loading) lookAhead() {
	for i := len(f.loads) - 1; i >= 0; i-- {
		l := &f.loads[i]
		l.rest = int64(l.most) * l.worth
		for d := range l.least {
			l.least[d] = l.class.requests[d]
			l.dense[d] = float64(l.worth) / float64(max(l.least[d], 1))
		}
		if i == len(f.loads)-1 {
			continue
		}
		next := &f.loads[i+1]
		l.rest += next.rest
		for d := range l.least {
			l.least[d], l.dense[d] = min(l.least[d], next.least[d]), max(l.dense[d], next.dense[d])
		}
	}
}

// value is what the kind of that number could hold: the anchor's pods first, then others, the largest first; 0 if none of the anchor's.
// Where that is less than wanted it may be any number that is less.
func (f *loading) value(number int, wanted int64) int64 {
	if number >= len(f.kinds) {
		return 0
	}
	k := &f.kinds[number]
	f.free = append(f.free[:0], k.alloc...)
	sum := int64(0)
	for i := range f.loads {
		l := &f.loads[i]
		if f.full(l) || sum+f.ahead(l) < wanted {
			break
		}
		if l.suits.has(number) {
			sum += f.take(l, k)
		}
		if i == 0 && sum == 0 {
			return 0
		}
	}
	return sum
}

// full tells that neither pods of the load nor of those after it fit any more.
func (f *loading) full(l *waitingLoad) bool {
	for d, n := range l.least {
		if f.free[d] < n {
			return true
		}
	}
	return false
}

// ahead is more than pods of the load and of those after it are worth that fit.
func (f *loading) ahead(l *waitingLoad) int64 {
	most := float64(l.rest)
	for d, dense := range l.dense {
		if l.least[d] > 0 {
			most = min(most, dense*float64(f.free[d]))
		}
	}
	return int64(most*(1+1e-9)) + 1
}

// take is what pods of the load are worth that fit, which they then take.
func (f *loading) take(l *waitingLoad, k *kind) int64 {
	n := howMany(l.class.requests, f.free, l.most)
	if n == 0 || l.admitted != nil && !f.admits(l, k.cell) {
		return 0
	}
	addScaled(f.free, l.class.requests, -int64(n))
	return int64(n) * l.worth
}

// admits reports whether rules let pods of the load into the cell.
func (f *loading) admits(l *waitingLoad, cell int32) bool {
	if l.admitted[cell] == notAsked {
		l.admitted[cell] = refused
		if f.t.topology.admitsDomains(l.class.topology, l.class.shape, f.t.placesOfKinds().list[cell]) {
			l.admitted[cell] = admitted
		}
	}
	return l.admitted[cell] == admitted
}

// suitingKinds are the numbers of those kinds at one stage that pods at another may go on, at their first stage. They are remembered.
func (t *Trial) suitingKinds(stage, other int32, kinds []kind) bitset {
	pair := [2]int32{stage, other}
	out, known := t.kindsSuiting[pair]
	if known {
		return out
	}
	if t.kindsSuiting == nil {
		t.kindsSuiting = map[[2]int32]bitset{}
	}
	out = newBitset(len(kinds))
	for i := range kinds {
		if t.kindSuits(&kinds[i], other) {
			out.set(i)
		}
	}
	t.kindsSuiting[pair] = out
	return out
}

// place puts pods on the machine as value has counted them, as far as rules let them.
func (f *loading) place(k *kind, host int32) {
	t := f.t
	put := func(class int32) bool {
		c := t.m.classes[class]
		stages := t.stagesFor(c)
		if t.waiting[class] == 0 || len(stages) == 0 || !t.kindSuits(k, stages[0]) {
			return false
		}
		n := howMany(c.requests, t.roomOf(host), int(t.waiting[class]))
		placed := false
		for n > 0 && t.admits(c, host) {
			count := n
			if c.topology != nil {
				count = 1
			}
			t.place(binding{class: class, host: host, count: int32(count), stage: stages[0]})
			n -= count
			placed = true
		}
		return placed
	}
	for progress := true; progress; {
		progress = put(f.anchor)
		for _, class := range f.classes {
			if class != f.anchor && put(class) {
				progress = true
			}
		}
		progress = progress && t.topology != nil
	}
}
