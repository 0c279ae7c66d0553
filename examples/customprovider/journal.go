package customprovider

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Holder is the NodeClaim to which a machine is assigned.
type Holder struct {
	// Launch is the number of this assignment, which no other assignment has.
	Launch  int64  `json:"launch"`
	Cluster string `json:"cluster"`
	// NodePool is the claim's NodePool, and Generation the API generation in which the pool was created; both are empty for a claim without
	// a NodePool.
	NodePool   string        `json:"nodePool,omitempty"`
	Generation v1.Generation `json:"generation,omitempty"`
	// Claim and UID are the name and the UID of the NodeClaim.
	Claim string `json:"claim"`
	UID   string `json:"uid"`
	// Since is the time when the machine was assigned to the claim. Started reports whether the machine was switched on successfully.
	Since   time.Time `json:"since"`
	Started bool      `json:"started,omitempty"`
	// Stopping is when the command to switch the machine off was given; zero if it was not.
	Stopping time.Time `json:"stopping,omitzero"`
}

// live reports whether the claim still has the machine. It is false once the machine is being switched off.
func (h Holder) live() bool { return h.Stopping.IsZero() }

// entry is a line of the file: the new holder of a machine. A machine without a holder is free.
type entry struct {
	Machine string  `json:"machine"`
	Holder  *Holder `json:"holder,omitempty"`
}

// Journal records which machine is assigned to which claim, in a file that survives the process. Each change is a line, written before the
// change is carried out. A Journal is safe for concurrent use; several clusters may share one in a process.
type Journal struct {
	mu      sync.Mutex
	file    *os.File
	holders map[string]Holder
	// launches is the highest number of a launch so far.
	launches int64
}

// OpenJournal reads the file, and creates it if it does not exist. An incomplete last line, for example after a crash, is dropped: its
// change was not started.
func OpenJournal(path string) (*Journal, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	j := &Journal{file: file, holders: map[string]Holder{}}
	if err := j.replay(); err != nil {
		return nil, errors.Join(fmt.Errorf("reading the journal %s: %w", path, err), file.Close())
	}
	return j, nil
}

// replay reads all complete lines, and removes an incomplete last line from the file.
func (j *Journal) replay() error {
	var whole int64
	lines := bufio.NewReader(j.file)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		whole += int64(len(line))
		j.apply(e)
	}
	if err := j.file.Truncate(whole); err != nil {
		return err
	}
	_, err := j.file.Seek(whole, io.SeekStart)
	return err
}

func (j *Journal) apply(e entry) {
	if e.Holder == nil {
		delete(j.holders, e.Machine)
		return
	}
	j.holders[e.Machine] = *e.Holder
	j.launches = max(j.launches, e.Holder.Launch)
}

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }

// update reads all holders and changes the holder of one machine. change gets the holders, which it must not keep or modify. change returns
// the machine's name with its new holder, or nil to free the machine; an empty name changes nothing. A holder without a number gets the
// next one. When update returns, the change is on disk.
func (j *Journal) update(change func(map[string]Holder) (machine string, holder *Holder, err error)) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	machine, holder, err := change(j.holders)
	if err != nil || machine == "" {
		return err
	}
	if holder != nil && holder.Launch == 0 {
		holder.Launch = j.launches + 1
	}
	e := entry{Machine: machine, Holder: holder}
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	j.apply(e)
	return nil
}

// read calls a function with all holders.
func (j *Journal) read(look func(map[string]Holder)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	look(j.holders)
}
