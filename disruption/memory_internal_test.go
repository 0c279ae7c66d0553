package disruption

// Looked is how often nodes were looked at again since the memory's plan, or one before it, was made from nothing.
func Looked(m *Memory) int { return m.looked }
