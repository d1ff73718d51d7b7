package fdbsim

import "slices"

// disk is a data directory: what a process finds again when it restarts.
type disk struct {
	key       string
	processID string
	// registers holds the coordination state by cluster key.
	registers map[string]register
	lost      bool
}

// register is what a coordinator knows under one cluster key.
type register struct {
	db *database
	// forward is the connection string to go on with, once the coordinators
	// have changed.
	forward string
}

func (w *World) openDisk(key string) *disk {
	if d, ok := w.disks[key]; ok {
		return d
	}
	d := &disk{key: key, processID: w.hex(32), registers: map[string]register{}}
	w.disks[key] = d
	return d
}

// LoseData destroys a data directory. A process that uses it dies with it; one
// that starts later with the same key finds nothing.
func (w *World) LoseData(dataKey string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d, ok := w.disks[dataKey]
	if !ok {
		return
	}
	d.lost = true
	delete(w.disks, dataKey)
	if i := slices.IndexFunc(w.servers, func(s *server) bool { return s.disk == d }); i >= 0 {
		w.endServer(w.servers[i], exitKilled)
	}
	for _, db := range w.databases {
		db.dataLost(d)
	}
	w.wake()
}
