package launchtemplates

import "sync"

// each calls do with 0 to n-1, with at most Options.Parallelism calls at a time, and returns after the last call.
func (s *Store) each(n int, do func(i int)) {
	if n == 1 {
		do(0)
		return
	}
	var wait sync.WaitGroup
	slots := make(chan struct{}, s.options.Parallelism)
	for i := range n {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			do(i)
		})
	}
	wait.Wait()
}
