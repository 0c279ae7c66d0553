package launchtemplates

import "sync"

// each calls do for 0 to n-1, in parallel as far as the options allow, and returns when all calls have returned.
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
