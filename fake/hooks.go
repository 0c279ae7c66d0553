package fake

// queueHook puts a hook's call into the queue, with the instance as it is now.
func (a *account) queueHook(hook func(Instance), m *instance) {
	if hook == nil {
		return
	}
	instance := m.snapshot()
	a.hooks = append(a.hooks, func() { hook(instance) })
}

// runHooks calls the hooks in the queue, one at a time and without the lock. Anyone who finds somebody at it already
// leaves the rest to them: waiting would be a deadlock for a hook that calls the cloud.
func (a *account) runHooks() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.hooksRunning {
		return
	}
	a.hooksRunning = true
	// Also when a hook panics: the next call must not find the queue taken forever.
	defer func() { a.hooksRunning = false }()
	for len(a.hooks) > 0 {
		hook := a.hooks[0]
		a.hooks = a.hooks[1:]
		a.unlocked(hook)
	}
}

func (a *account) unlocked(f func()) {
	a.mu.Unlock()
	defer a.mu.Lock()
	f()
}
