package settings

// ParseEnv reads the environment with lookup, for example os.LookupEnv. An empty variable counts as unset, except
// INTERRUPTION_QUEUE, for which empty means no queue. Variables of old releases are accepted, with a warning; other variables are
// ignored.
func ParseEnv(lookup func(string) (string, bool)) Layer {
	l := newLayer(SourceEnv)
	for _, s := range definitions() {
		if s.fileOnly {
			continue
		}
		name := environmentName(s.name)
		if text, there := lookup(name); there && (text != "" || s.keepsEmpty) {
			l.set(s, entry{written: name, text: text})
		}
		for _, o := range s.old {
			old := environmentName(o.name)
			if text, there := lookup(old); there && text != "" {
				l.report(deprecated(SourceEnv, old, o.replacement(name, text)))
				l.setAs(s, entry{written: old, text: text}, o.opposite)
			}
		}
	}
	for _, u := range unusedSettings() {
		name := environmentName(u.name)
		if text, there := lookup(name); there && text != "" {
			l.report(u.problem(SourceEnv, name))
		}
	}
	return l.finish()
}

// replacement returns the name that should be written instead of an old name. name is the name of the successor in the same source.
func (o oldName) replacement(name, text string) string {
	if on, err := parseBool(text); o.opposite && err == nil {
		return name + "=" + bools().format(!on)
	}
	return name
}

func (u unused) problem(source Source, name string) *Problem {
	if u.since == "" {
		return unknown(source, name)
	}
	return noEffect(source, name, u.since)
}
