package kubelet

import (
	"context"

	corev1 "k8s.io/api/core/v1"
)

// program is the program of a pod.
type program struct {
	stop  context.CancelFunc
	ended bool
	code  int
}

// ended starts the program of a running pod if it was not started before. It returns the exit code, and whether the program has ended.
func (s *Simulator) ended(pod *corev1.Pod) (int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.programs[pod.UID]; p != nil {
		return p.code, p.ended
	}
	ctx, stop := context.WithCancel(s.ctx)
	p := &program{stop: stop}
	s.programs[pod.UID] = p
	s.wg.Go(func() {
		defer stop()
		code := s.options.Run(ctx, pod.DeepCopy())
		s.mu.Lock()
		p.ended, p.code = true, code
		s.mu.Unlock()
		s.enqueue(pod)
	})
	return 0, false
}

// stopProgram ends the context of a pod's program.
func (s *Simulator) stopProgram(pod *corev1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.programs[pod.UID]; p != nil {
		p.stop()
	}
}
