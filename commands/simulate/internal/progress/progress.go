// Package progress shows the current stage of a long run.
//
// Stability: internal.
package progress

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/drawknife/drawknife/internal/printable"
)

const (
	// showAfter is the time after which a run begins to print its progress. During a shorter run nobody could read a message.
	showAfter = time.Second
	// drawEvery is the time between two pictures of the spinner.
	drawEvery = 100 * time.Millisecond
)

// Line shows the progress of a long run on one line, which is removed when the run ends. A nil Line prints nothing.
type Line struct {
	w     io.Writer
	start time.Time
	done  chan struct{}
	ended chan struct{}

	mu    sync.Mutex
	stage string
}

// Silent returns a Line that prints nothing and only stores the stage.
func Silent() *Line {
	p := &Line{done: make(chan struct{}), ended: make(chan struct{})}
	close(p.done)
	close(p.ended)
	return p
}

// Start returns a Line that shows the progress of a run that begins now. Stop must be called before anything else is written to w.
func Start(w io.Writer) *Line {
	p := &Line{w: w, start: time.Now(), done: make(chan struct{}), ended: make(chan struct{})}
	go p.draw()
	return p
}

// Enter sets the current stage of the run.
func (p *Line) Enter(stage string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stage = stage
}

// Now returns the current stage of the run.
func (p *Line) Now() string {
	if p == nil {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stage
}

// Stop removes the line, and returns when nothing more will be written. It may be called more than once.
func (p *Line) Stop() {
	if p == nil {
		return
	}
	select {
	case <-p.done:
	default:
		close(p.done)
	}
	<-p.ended
}

func (p *Line) draw() {
	defer close(p.ended)
	ticker := time.NewTicker(drawEvery)
	defer ticker.Stop()
	drawn := false
	for tick := 0; ; tick++ {
		select {
		case <-p.done:
			if drawn {
				fmt.Fprint(p.w, wipeLine)
			}
			return
		case <-ticker.C:
		}
		elapsed := time.Since(p.start)
		if elapsed < showAfter {
			continue
		}
		p.mu.Lock()
		stage := p.stage
		p.mu.Unlock()
		fmt.Fprint(p.w, wipeLine, spinner(tick, printable.Text(stage), elapsed))
		drawn = true
	}
}

// wipeLine moves to the start of the line and clears it.
const wipeLine = "\r\x1b[K"

// spinner is one picture of the progress line.
func spinner(tick int, stage string, elapsed time.Duration) string {
	const pictures = `|/-\`
	return fmt.Sprintf("%c %s (%d s)", pictures[tick%len(pictures)], stage, int(elapsed.Seconds()))
}
