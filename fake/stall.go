package fake

import "context"

// Stall blocks calls of a method before they do anything, until release is called or their context ends. A second call of release has no
// effect.
func (c *Cloud) Stall(method Method) (release func()) {
	gate := make(chan struct{})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stalls[method] = append(c.stalls[method], gate)
	released := false
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !released {
			released = true
			close(gate)
		}
	}
}

// unstalled waits, without holding the lock, until no Stall blocks the method.
func (c *Cloud) unstalled(ctx context.Context, method Method) error {
	for {
		c.mu.Lock()
		if len(c.stalls[method]) == 0 {
			c.mu.Unlock()
			return nil
		}
		gate := c.stalls[method][0]
		c.mu.Unlock()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-gate:
		}
		c.mu.Lock()
		if left := c.stalls[method]; len(left) > 0 && left[0] == gate {
			c.stalls[method] = left[1:]
		}
		c.mu.Unlock()
	}
}
