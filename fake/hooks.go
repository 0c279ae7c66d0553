package fake

// queueHook adds a hook's call to the queue, with the present state of the instance.
func (a *account) queueHook(hook func(Instance), m *instance) {
	if hook == nil {
		return
	}
	instance := m.snapshot()
	a.hooks = append(a.hooks, func() { hook(instance) })
}

// runHooks calls the hooks in the queue, one at a time and without the lock. If another goroutine is already running them, it returns at
// once. If it waited, a hook that calls the cloud would cause a deadlock.
func (a *account) runHooks() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.hooksRunning {
		return
	}
	a.hooksRunning = true
	// Reset the field even if a hook panics. Otherwise no later call would run the hooks in the queue.
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
