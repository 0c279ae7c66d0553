package manifests

// isFormer reports whether an object with this UID and creation time is a manifest of Options.Former, which is not read.
func (l *loader) isFormer(o origin, uid, created string) bool {
	return o.source >= l.firstLive && o.source < l.endFormer && uid == "" && created == ""
}

// superseded reports whether an object is not read because of Options.Former: it is a manifest there, or an object of the cluster for which
// only Options.Former has a manifest. The pods of such an object are left out, too. known says that a source has read an object of this key.
func (l *loader) superseded(d document, key objectKey, object decodable, known bool) bool {
	created := ""
	if t := object.GetCreationTimestamp(); !t.IsZero() {
		created = t.String()
	}
	switch {
	case l.endFormer == l.firstLive:
		return false
	case l.isFormer(d.origin, string(object.GetUID()), created):
		if l.replacing.former == nil {
			l.replacing.former = make(map[objectKey]bool)
		}
		l.replacing.former[key] = true
		return true
	case !known && l.live(d.origin) && l.replacing.former[key]:
		if l.replacing.replaced == nil {
			l.replacing.replaced = make(map[objectKey]bool)
		}
		l.replacing.replaced[key] = true
		return true
	}
	return false
}
