package simulate

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/drawknife/drawknife/internal/printable"
)

const (
	// progressAfter is the time for which a run prints no progress: shorter runs end before a message could be read.
	progressAfter = time.Second
	// progressEvery is the time between two pictures of the spinner.
	progressEvery = 100 * time.Millisecond
)

// progress shows the progress of a long run on one line, which is removed when the run ends. A nil progress is silent.
type progress struct {
	w     io.Writer
	start time.Time
	done  chan struct{}
	ended chan struct{}

	mu    sync.Mutex
	stage string
}

// silentProgress prints nothing; it only stores the stage.
func silentProgress() *progress {
	p := &progress{done: make(chan struct{}), ended: make(chan struct{})}
	close(p.done)
	close(p.ended)
	return p
}

// startProgress begins to watch a run. Stop must be called before anything else is written to w.
func startProgress(w io.Writer) *progress {
	p := &progress{w: w, start: time.Now(), done: make(chan struct{}), ended: make(chan struct{})}
	go p.draw()
	return p
}

// enter sets the current stage of the run.
func (p *progress) enter(stage string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stage = stage
}

// now returns the current stage of the run.
func (p *progress) now() string {
	if p == nil {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stage
}

// stop wipes the line and waits until nothing more is written. It may be called more than once.
func (p *progress) stop() {
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

func (p *progress) draw() {
	defer close(p.ended)
	ticker := time.NewTicker(progressEvery)
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
		if elapsed < progressAfter {
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
