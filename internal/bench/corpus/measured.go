package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// measured is a file with the results of a run. It has one line for each scenario. If a run was stopped, the next run continues with the
// scenarios that are not in the file. To join the results of runs with different scenarios, append one file to the other.
type measured struct {
	file *os.File
	rows map[string]*row
}

// measurement is one line of the file.
type measurement struct {
	Row    *row    `json:"row"`
	Record *record `json:"record"`
}

// openMeasured reads the file, or creates it if it does not exist. It also adds the records in the file to the known records. It returns
// nil if the file name is empty.
func openMeasured(name string, known records) (*measured, error) {
	if name == "" {
		return nil, nil
	}
	m := &measured{rows: map[string]*row{}}
	old, err := os.Open(name)
	if err == nil {
		err = errors.Join(m.read(old, known), old.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	m.file, err = os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	return m, err
}

func (m *measured) read(file *os.File, known records) error {
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var l measurement
		err := json.Unmarshal(lines.Bytes(), &l)
		if err == nil && (l.Row == nil || l.Record == nil) {
			err = errors.New("row or record is missing")
		}
		if err != nil {
			return fmt.Errorf("line %d is not a measurement of this program: %w; delete the line to measure its scenario again", n, err)
		}
		m.rows[l.Row.Scenario], known[l.Row.Scenario] = l.Row, l.Record
	}
	return lines.Err()
}

// of returns the result of a scenario, or nil if the file has no result for it.
func (m *measured) of(name string) *row {
	if m == nil {
		return nil
	}
	return m.rows[name]
}

// add writes the line of a scenario at once, so that the run may be stopped at any time.
func (m *measured) add(r *row, known *record) error {
	if m == nil {
		return nil
	}
	line, err := json.Marshal(measurement{r, known})
	if err != nil {
		return err
	}
	_, err = m.file.Write(append(line, '\n'))
	return err
}

func (m *measured) close() error {
	if m == nil {
		return nil
	}
	return m.file.Close()
}
