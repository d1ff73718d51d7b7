package model

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// keep stores coordination state, in the file as well: the names under which it is kept, the database, where its
// generation begins, and the connection string that clients of the name are referred to. Before each name is the
// length that FoundationDB's record has there: one without a state is short.
func (s *Process) keep(key string, r register) {
	s.Disk.registers[key] = r
	if s.spec.Coordination == nil {
		return
	}
	text := coordinationText(s.Disk.registers)
	if s.spec.Coordination.Write([]byte(text)) == nil { // a program that is ending has no files
		s.Disk.written = text
	}
}

// Lengths of the value of a record, in bytes: of a coordinator whose state was read, and that has none, and one with the state
// of a small database. Neither contains a line feed in its bytes.
const (
	recordWithoutState = 57
	recordOfState      = 912
	recordLength       = 4
)

func coordinationText(registers map[string]register) string {
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(registers)) {
		r := registers[key]
		length := uint32(recordWithoutState)
		if r.hasState() {
			length = recordOfState
		}
		text.Write(binary.LittleEndian.AppendUint32(nil, length))
		fmt.Fprintf(&text, "%s %s %d %s\n", key, r.db.id, r.begin, r.forward)
	}
	return text.String()
}

// loadCoordination reads the coordination state that the data directory has now: that of another
// process where it was copied, none where it was deleted. What the model wrote itself it knows.
func (w *Simulation) loadCoordination(d *Disk, from File) {
	if from == nil {
		return
	}
	content, err := from.Read()
	switch {
	case errors.Is(err, fs.ErrNotExist) && d.written != "":
		d.registers, d.written = map[string]register{}, ""
	case err != nil || string(content) == d.written:
	default:
		d.registers, d.written = w.parseCoordination(string(content)), string(content)
	}
}

// parseCoordination leaves out what names no database.
func (w *Simulation) parseCoordination(text string) map[string]register {
	registers := map[string]register{}
	for line := range strings.Lines(text) {
		const parts = 4
		fields := strings.SplitN(strings.TrimSuffix(line[min(recordLength, len(line)):], "\n"), " ", parts)
		if len(fields) != parts {
			continue
		}
		begin, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil {
			continue
		}
		i := slices.IndexFunc(w.Databases, func(db *Database) bool { return db.id == fields[1] })
		if i >= 0 {
			registers[fields[0]] = register{db: w.Databases[i], begin: begin, forward: fields[3]}
		}
	}
	return registers
}

// registerOf is what a coordinator knows under a name. One without any state looks for its files
// first: it opens them when it is queried, and not when it starts.
func (s *Process) registerOf(key string) register {
	if len(s.Disk.registers) == 0 && s.Alive() {
		s.simulation.loadCoordination(s.Disk, s.spec.Coordination)
	}
	return s.Disk.registers[key]
}
