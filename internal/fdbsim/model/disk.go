package model

import "slices"

// Disk is a data directory: what a process finds again when it restarts.
type Disk struct {
	key       string
	ProcessID string
	// registers holds the coordination state by cluster key.
	registers map[string]register
	// written is the text of the coordination file, as the model wrote or read it last.
	written string
	Lost    bool
}

// register is what a coordinator knows under one cluster key.
type register struct {
	db *Database
	// forward is the connection string to go on with, once the coordinators
	// have changed.
	forward string
	// begin is the first version of the generation that was the current one when this was written.
	begin int64
}

// Coordination reports whether a process of the data directory was a coordinator, and stores the state of a database.
func (d *Disk) Coordination() (is, state bool) {
	for _, r := range d.registers {
		is, state = true, state || r.hasState()
	}
	return is, state
}

// hasState reports whether a database was created, or moved its coordinators.
func (r register) hasState() bool { return len(r.db.begins) > 0 || r.forward != "" }

// DataOn are the names of the files of storage and log servers in a data directory.
func (w *Simulation) DataOn(d *Disk) (names []string) {
	for _, db := range w.Databases {
		for _, ss := range db.Storage {
			if ss.Disk == d {
				names = append(names, "storage-"+ss.ID+".sqlite")
			}
		}
		for _, g := range db.Logs {
			for _, set := range g.Sets {
				for _, l := range set.Logs {
					if l.Disk == d {
						names = append(names, "logqueue-"+l.ID+"-0.fdq")
					}
				}
			}
		}
	}
	return names
}

func (w *Simulation) openDisk(key string) *Disk {
	if d, ok := w.Disks[key]; ok {
		return d
	}
	d := &Disk{key: key, ProcessID: w.Hex(32), registers: map[string]register{}}
	w.Disks[key] = d
	return d
}

// LoseData destroys a data directory. A process that uses it dies with it; one
// that starts later with the same key finds nothing.
func (w *Simulation) LoseData(dataKey string) {
	d, ok := w.Disks[dataKey]
	if !ok {
		return
	}
	d.Lost = true
	delete(w.Disks, dataKey)
	if i := slices.IndexFunc(w.servers, func(s *Process) bool { return s.Disk == d }); i >= 0 {
		w.EndProcess(w.servers[i], ExitKilled)
	}
	for _, db := range w.Databases {
		db.dataLost(d)
	}
	w.Wake()
}
